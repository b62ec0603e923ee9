import { setTimeout as pause } from "node:timers/promises";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { ConvokeClient } from "@convoke/client";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createAcpAgent } from "./acp-agent.ts";

/** An agent over streams in memory, whose server is not there. */
function openAgent() {
  const fetch = async (): Promise<Response> =>
    Response.json(
      { detail: "There is no such conversation.", code: "conversation_not_found" },
      { status: 404 },
    );
  const app = createAcpAgent({
    client: new ConvokeClient({ baseUrl: "http://127.0.0.1:1", fetch }),
    version: "1.2.3",
    mode: "risky",
    model: { model: null, apiKey: null, baseUrl: null },
  });
  const [input, output] = [new TransformStream<Uint8Array>(), new TransformStream<Uint8Array>()];
  const connection = app.connect(ndJsonStream(output.writable, input.readable));
  const writer = input.writable.getWriter();
  const answers: { id?: unknown; result?: object; error?: { code: number; message: string } }[] = [];
  const reading = (async () => {
    const text = output.readable.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>);
    let rest = "";
    for await (const chunk of text) {
      const lines = `${rest}${chunk}`.split("\n");
      rest = lines.pop() ?? "";
      // What is no JSON is no frame.
      answers.push(...lines.map((line) => JSON.parse(line) as (typeof answers)[number]));
    }
  })();
  const send = (bytes: string): Promise<void> => writer.write(new TextEncoder().encode(bytes));
  const request = async (id: string, method: string, params: unknown) => {
    await send(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    await expect.poll(() => answers.some((one) => one.id === id), { interval: 1 }).toBe(true);
    return answers.find((one) => one.id === id)!;
  };
  const close = async (): Promise<void> => {
    await writer.close();
    await connection.closed;
    await Promise.race([reading, pause(0)]);
  };
  return { send, request, close, answers };
}

const hello = { protocolVersion: 1, clientCapabilities: {} };
const methods = [
  "initialize",
  "session/new",
  "session/load",
  "session/resume",
  "session/list",
  "session/prompt",
  "session/set_mode",
  "session/set_config_option",
  "session/close",
  "session/delete",
  "session/cancel",
  "nothing",
];

test("whatever frames come, the agent answers what can be answered, and goes on", async () => {
  const params = fc.record(
    {
      sessionId: fc.oneof(fc.uuid(), fc.string(), fc.integer()),
      cwd: fc.oneof(fc.constant("/work"), fc.string(), fc.constant(null)),
      mcpServers: fc.oneof(fc.constant([]), fc.jsonValue()),
      prompt: fc.oneof(fc.constant([{ type: "text", text: "/approve" }]), fc.jsonValue()),
      modeId: fc.oneof(fc.constant("plan"), fc.string()),
      configId: fc.string(),
      value: fc.jsonValue(),
      cursor: fc.oneof(fc.string(), fc.constant(null)),
    },
    { requiredKeys: [] },
  );
  const message = fc
    .record({
      jsonrpc: fc.constantFrom("2.0", "1.0"),
      id: fc.oneof(fc.nat(), fc.string(), fc.constant(null), fc.constant(undefined)),
      method: fc.oneof(fc.constantFrom(...methods), fc.string()),
      params: fc.oneof(params, fc.jsonValue()),
    })
    .map((value) => JSON.stringify(value));
  const line = fc.oneof(
    message,
    message.map((text) => text.slice(0, text.length / 2)),
    fc.json(),
    fc.string(),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 12 }), async (lines) => {
      const agent = openAgent();
      for (const one of lines) await agent.send(`${one.replaceAll("\n", " ")}\n`);
      const { result } = await agent.request("last", "initialize", hello);
      expect(result).toMatchObject({ protocolVersion: 1, agentInfo: { name: "convoke", version: "1.2.3" } });
      await agent.close();
    }),
    { numRuns: 60, seed: 7 },
  );
});

test("what cannot be carried out is an error with a code and words that say what to do", async () => {
  const agent = openAgent();
  await agent.request("hello", "initialize", hello);
  const missing = { cwd: "/work", mcpServers: [], sessionId: crypto.randomUUID() };
  expect(await agent.request("load", "session/load", missing)).toMatchObject({
    error: { code: -32002, data: { code: "conversation_not_found", status: 404 } },
  });
  const prompt = { sessionId: "none", prompt: [{ type: "text", text: "Go." }] };
  expect(await agent.request("prompt", "session/prompt", prompt)).toMatchObject({
    error: { code: -32002, message: expect.stringContaining("session/new") as string },
  });
  expect(await agent.request("begin", "session/new", { cwd: "here", mcpServers: [] })).toMatchObject({
    error: { code: -32602, message: expect.stringContaining("absolute path") as string },
  });
  expect(await agent.request("other", "session/other", {})).toMatchObject({ error: { code: -32601 } });
  await agent.close();
});
