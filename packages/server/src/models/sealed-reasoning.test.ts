import type { Event } from "@convoke/protocol";
import { describe, expect, test } from "vitest";
import { startTestServer } from "../testing/start-server.ts";
import { startScriptedModel } from "../testing/scripted-model/scripted-model.ts";
import { collect, doneOf, toolResult, userMessage } from "./contract-bench.ts";
import { openModel } from "./open-model.ts";

const sealed = "c2VhbGVkLWJ5LW9wZW5haQ==";
const calling = {
  reasoning: "Let me see.",
  signature: sealed,
  text: "Looking.",
  tool_calls: [{ name: "terminal", arguments: '{ "command":  "ls" }' }],
};

describe("what only the provider can read", () => {
  test.each([
    ["openai_responses/gpt-5", "/v1"],
    ["gemini/gemini-3-pro-preview", "/v1beta"],
  ])("L23.33: %s gets it back through the log, and nobody else sees it", async (model, path) => {
    await using server = await startTestServer({ script: { turns: [calling, { text: "done" }] } });
    const { agent } = server.startRequest();
    const llm = { model, base_url: `${server.model.url}${path}`, api_key: "llm-key", log_completions: true };
    const id = await server.runTo("finished", "Go.", { agent: { ...agent, llm } });
    await server.restart();
    await server.call("POST", `/api/conversations/${id}/events`, {
      role: "user",
      content: [{ type: "text", text: "More." }],
      run: true,
    });
    await server.waitForStatus(id, "finished");
    const requests = server.model.requests.map(({ text }) => text.includes(sealed));
    expect(requests).toEqual([false, true, true]);
    const events = await server.events(id);
    expect(JSON.stringify([events, server.log])).not.toContain(sealed);
    for (const { id: eventId, kind } of events.filter(({ source }) => source === "agent")) {
      const { status, text } = await server.call("GET", `/api/conversations/${id}/events/${eventId}/context`);
      expect(status, kind).toBe(200);
      expect(text, kind).not.toContain(sealed);
    }
    const logs = events.filter((event) => event.kind === "LLMCompletionLogEvent");
    expect(logs).toHaveLength(3);
    expect(JSON.parse(logs[0]!.log_data)).toMatchObject({
      usage_summary: {},
      response: { content: "Looking." },
    });
    expect(logs[0]).toMatchObject({ model_name: model, usage_id: "default" });
    expect(JSON.stringify(logs)).not.toContain("llm-key");
  });

  test("the items of the responses wire go back byte for byte, in their order", async () => {
    await using server = await startScriptedModel({ script: { turns: [calling, { text: "done" }] } });
    const model = openModel({ model: "openai_responses/gpt-5", base_url: `${server.url}/v1`, api_key: "k" });
    const { message } = doneOf(await collect(model));
    doneOf(await collect(model, [userMessage("Go."), message, toolResult("call-1-1", "terminal", "ok")]));
    const { input, store, include } = server.requests[1]!.body as Record<string, unknown[]>;
    expect(store).toBe(false);
    expect(include).toEqual(["reasoning.encrypted_content"]);
    expect(input!.slice(1, 4)).toEqual(message.replay!.items);
    expect(message.replay!.items).toMatchObject([
      { type: "reasoning", encrypted_content: sealed },
      { type: "message" },
      { type: "function_call", arguments: '{ "command":  "ls" }' },
    ]);
    expect(message.reasoningItem).not.toHaveProperty("encrypted_content");
  });

  test("a seal that the provider cannot open is left out, and the request made again", async () => {
    const refusal = { status: 400, message: "The encrypted content gAAA could not be verified." };
    const script = { turns: [calling, { text: "done", error: refusal, attempts: 1 }] };
    await using server = await startScriptedModel({ script });
    const model = openModel({ model: "openai_responses/gpt-5", base_url: `${server.url}/v1`, api_key: "k" });
    const { message } = doneOf(await collect(model));
    const history = [userMessage("Go."), message, toolResult("call-1-1", "terminal", "ok")];
    await collect(model, history);
    expect(server.requests.slice(0, 3).map(({ text }) => text.includes(sealed))).toEqual([
      false,
      true,
      false,
    ]);
  });

  test("token ids that a server returns are an event", async () => {
    const chunk = {
      id: "r",
      prompt_token_ids: [1, 2],
      choices: [{ index: 0, delta: { content: "hi" }, token_ids: [3], finish_reason: "stop" }],
    };
    const raw = {
      headers: { "content-type": "text/event-stream" },
      body: `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`,
    };
    await using server = await startTestServer({ script: { turns: [{ raw }] } });
    const id = await server.runTo("finished", "Go.");
    const tokens = (await server.events(id)).filter((event: Event) => event.kind === "TokenEvent");
    expect(tokens).toMatchObject([{ prompt_token_ids: [1, 2], response_token_ids: [3] }]);
  });
});
