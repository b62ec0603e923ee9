import OpenAI, { BadRequestError, NotFoundError } from "openai";
import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import { expect, onTestFinished, test } from "vitest";
import type { Script } from "../../testing/scripted-model/script.ts";
import { startTestServer } from "../../testing/start-server.ts";

const model = "openhands_quick";
const usage = { prompt_tokens: 10, completion_tokens: 2 };

/** A server with a scripted profile, and OpenAI's own library as its client. */
async function openBoth(script: Script) {
  const server = await startTestServer({ script });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const llm = { model: "openai/scripted", base_url: `${server.model.url}/v1`, api_key: "k", num_retries: 0 };
  await server.call("POST", "/api/v1/settings/profiles/quick", { llm, include_secrets: true });
  const openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.key, maxRetries: 0 });
  return { server, openai };
}

const terminal = (command: string) => ({ name: "terminal", arguments: { command } });

test("a response is the agent's last text with its tokens, and goes on by its id or its conversation", async () => {
  const { server, openai } = await openBoth({
    turns: [
      { reasoning: "Small.", text: "I look.", tool_calls: [terminal("ls")], usage },
      { text: "first", usage },
      { text: "second", usage },
      { text: "third", usage },
    ],
  });
  const first = await openai.responses.create({
    model,
    input: "one",
    instructions: "Be brief.",
    store: true,
  });
  expect(first).toMatchObject({ status: "completed", output_text: "first", error: null, model });
  expect(first.output.map(({ type }) => type)).toEqual(["reasoning", "message"]);
  expect(first.usage).toMatchObject({ input_tokens: 20, output_tokens: 4, total_tokens: 24 });
  const second = await openai.responses.create({ model, input: "two", previous_response_id: first.id });
  expect(second).toMatchObject({ output_text: "second", previous_response_id: first.id });
  expect(second.usage).toMatchObject({ total_tokens: 12 });
  expect(second.conversation).toEqual(first.conversation);
  const { id: conversation } = first.conversation!;
  const both = [{ role: "user", content: "three" } as const, { role: "user", content: "and four" } as const];
  const third = await openai.responses.create({ model, input: both, conversation });
  expect(third.output_text).toBe("third");
  expect(server.model.requests.at(-1)!.text).toContain("and four");
  expect(server.model.requests.at(-1)!.text).toContain("three");
  // What was answered is read again later, at any server of the store.
  await server.restart();
  const again = await openai.responses.retrieve(first.id);
  expect(again).toMatchObject({ status: "completed", output_text: "first", usage: { total_tokens: 24 } });
});

test("a stream: pieces of text and reasoning as they come, what is said between calls as commentary, and the whole at the end", async () => {
  const { openai } = await openBoth({
    turns: [
      { reasoning: "It is small.", text: "I look.", chunk_size: 3, tool_calls: [terminal("ls")], usage },
      { text: "All is well.", chunk_size: 4, usage },
    ],
  });
  const stream = openai.responses.stream({ model, input: "go" });
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
  const of = (type: string) => events.filter((event) => event.type === type);
  expect(of("response.output_text.delta").length).toBeGreaterThan(4);
  expect(of("response.reasoning_summary_text.delta").length).toBeGreaterThan(1);
  const { output, status, usage: spent } = await stream.finalResponse();
  expect({ status, total: spent!.total_tokens }).toEqual({ status: "completed", total: 24 });
  expect(output).toMatchObject([
    { type: "reasoning", summary: [{ text: "It is small." }] },
    { type: "message", phase: "commentary", content: [{ text: "I look." }] },
    { type: "message", phase: "final_answer", content: [{ text: "All is well." }] },
  ]);
  // The whole at the end is what its events said.
  const ended = of("response.output_item.done").map((event) => "item" in event && event.item);
  expect(ended).toEqual(
    of("response.completed").flatMap((event) => ("response" in event ? event.response.output : [])),
  );
});

test("functions are tools of the client: their calls are items, and their outputs the next message", async () => {
  const { server, openai } = await openBoth({
    turns: [
      { tool_calls: [{ id: "c-1", name: "weather", arguments: { city: "Kiel" } }] },
      { text: "I asked." },
      { text: "It rains in Kiel." },
    ],
  });
  const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const tools = [
    { type: "function" as const, name: "weather", description: "Tells it.", parameters, strict: false },
  ];
  const first = await openai.responses.create({ model, input: "Weather?", tools });
  const call = first.output.find(({ type }) => type === "function_call");
  expect(call).toMatchObject({ name: "weather", call_id: "c-1" });
  expect(first.tools).toEqual(tools);
  const output = { type: "function_call_output" as const, call_id: "c-1", output: "rain" };
  const second = await openai.responses.create({
    model,
    previous_response_id: first.id,
    input: [output],
    tools,
  });
  expect(second.output_text).toBe("It rains in Kiel.");
  expect(server.model.requests.at(-1)!.text).toContain("The output of the call c-1:\\nrain");
  const other = [{ ...tools[0]!, name: "time" }];
  const refused = openai.responses.create({
    model,
    previous_response_id: first.id,
    input: "x",
    tools: other,
  });
  await expect(refused).rejects.toMatchObject({ status: 422, param: "tools.0.name" });
});

test("client tools get results back: a response ends with the calls of functions that wait, and their outputs answer them", async () => {
  const { server, openai } = await openBoth({
    turns: [
      {
        tool_calls: [
          { id: "c-1", name: "weather", arguments: { city: "Kiel" } },
          { id: "c-2", name: "weather", arguments: { city: "Bonn" } },
        ],
      },
      { text: "Rain and sun." },
    ],
  });
  const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const weather = { type: "function" as const, name: "weather", parameters, strict: false };
  const tools = [{ ...weather, waits_for_result: true }];
  const first = await openai.responses.create({ model, input: "Weather?", tools });
  expect(first.status).toBe("completed");
  expect(first.output.map((item) => [item.type, "call_id" in item && item.call_id])).toEqual([
    ["function_call", "c-1"],
    ["function_call", "c-2"],
  ]);
  expect(await openai.responses.retrieve(first.id)).toMatchObject({ status: "completed" });
  const output = (call: string, text: string) => ({
    type: "function_call_output" as const,
    call_id: call,
    output: text,
  });
  const second = await openai.responses.create({
    model,
    previous_response_id: first.id,
    input: [output("c-1", "rain"), output("c-2", "sun"), { role: "user", content: "In short." }],
    stream: true,
  });
  const ended: ResponseStreamEvent[] = [];
  for await (const event of second) if (event.type === "response.completed") ended.push(event);
  expect(ended).toMatchObject([{ response: { output: [{ content: [{ text: "Rain and sun." }] }] } }]);
  const { text } = server.model.requests.at(-1)!;
  expect(text).not.toContain("The output of the call");
  expect(text.indexOf("rain")).toBeGreaterThan(0);
  expect(text).toContain("In short.");
});

test("in the background: read until it is done, or cancelled", async () => {
  const { server, openai } = await openBoth({
    turns: [
      { tool_calls: [terminal("hold")], usage },
      { text: "done", usage },
    ],
  });
  const begun = await openai.responses.create({ model, input: "go", background: true });
  expect(begun).toMatchObject({ status: "in_progress", background: true, output: [] });
  expect(await openai.responses.retrieve(begun.id)).toMatchObject({ status: "in_progress" });
  const other = await openai.responses.create({ model, input: "stop", background: true });
  await expect.poll(() => server.quickTools.started.length).toBe(2);
  expect(await openai.responses.cancel(other.id)).toMatchObject({ status: "cancelled" });
  server.quickTools.release();
  await expect.poll(async () => (await openai.responses.retrieve(begun.id)).status).toBe("completed");
  const { output_text: text, usage: spent } = await openai.responses.retrieve(begun.id);
  expect({ text, total: spent!.total_tokens }).toEqual({ text: "done", total: 24 });
  // What has ended stays as it is.
  expect(await openai.responses.cancel(begun.id)).toMatchObject({ status: "completed" });
});

test("what is not supported is a 400 with the name of the field; unknown ids are a 404", async () => {
  const { openai } = await openBoth({ turns: [{ text: "hi" }] });
  const refusal = async (more: object) =>
    await openai.responses.create({ model, input: "x", ...more } as never).catch((error: unknown) => error);
  for (const [more, param] of [
    [{ temperature: 0.2 }, "temperature"],
    [{ max_output_tokens: 10 }, "max_output_tokens"],
    [{ store: false }, "store"],
    [{ tool_choice: "required" }, "tool_choice"],
    [{ tools: [{ type: "web_search" }] }, "tools.0.type"],
    [{ input: [{ type: "item_reference", id: "x" }] }, "input.0.type"],
    [{ stream: true, background: true }, "stream"],
    [{ text: { format: { type: "json_object" } } }, "text"],
    [{ no_such_field: 1 }, "no_such_field"],
  ] as const) {
    const error = await refusal(more);
    expect(error, param).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ param, code: "unsupported_field" });
  }
  await expect(openai.responses.retrieve("resp_1")).rejects.toBeInstanceOf(NotFoundError);
  expect(await refusal({ previous_response_id: "resp_1" })).toBeInstanceOf(NotFoundError);
  const unknown = crypto.randomUUID();
  expect(await refusal({ conversation: unknown })).toBeInstanceOf(NotFoundError);
  const harmless = {
    user: "u",
    include: [],
    truncation: "disabled",
    parallel_tool_calls: true,
    temperature: null,
  };
  expect(await refusal(harmless)).toMatchObject({ output_text: "hi" });
});

test("a run that fails is a 503, and the last event of a stream", async () => {
  const { openai } = await openBoth({
    turns: [{ error: { status: 400, message: "no such thing" } }],
    after_end: "error",
  });
  await expect(openai.responses.create({ model, input: "x" })).rejects.toMatchObject({
    status: 503,
    code: "run_failed",
  });
  const events = await Array.fromAsync(await openai.responses.create({ model, input: "y", stream: true }));
  expect(events.at(-1)).toMatchObject({
    type: "response.failed",
    response: { status: "failed", error: { code: "server_error", message: expect.any(String) as string } },
  });
});
