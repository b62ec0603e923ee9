import { expect, test } from "vitest";
import type { Script } from "../../testing/scripted-model/script.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../../testing/start-server.ts";
import { readTestedStore } from "../../testing/tested-store.ts";

const chats = "/v1/chat/completions";
const bearer = { Authorization: "Bearer test-session-key" };

async function startWith(script: Script, config: TestServerOptions["config"] = {}): Promise<TestServer> {
  const server = await startTestServer({ script, config });
  const llm = {
    model: "openai/scripted",
    base_url: `${server.model.url}/v1`,
    api_key: "llm-key",
    num_retries: 0,
  };
  await server.call("POST", "/api/v1/settings/profiles/quick", { llm, include_secrets: true });
  return server;
}

const ask = (text: string, more: object = {}) => ({
  model: "openhands_quick",
  messages: [{ role: "user", content: text }],
  ...more,
});

test("profiles are models", async () => {
  await using server = await startWith({ turns: [] });
  const { json } = await server.call("GET", "/v1/models");
  expect(json).toEqual({
    object: "list",
    data: [{ id: "openhands_quick", object: "model", created: 0, owned_by: "openhands" }],
  });
});

test("W34: an answer is sent as soon as it is complete, with the tokens of this request only", async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 2 };
  await using server = await startWith({
    turns: [
      { text: "first answer", usage },
      { text: "second answer", usage },
    ],
  });
  const first = await server.call("POST", chats, ask("one"), bearer);
  expect(first.status, first.text).toBe(200);
  expect(first.json).toMatchObject({
    object: "chat.completion",
    model: "openhands_quick",
    choices: [{ index: 0, message: { role: "assistant", content: "first answer" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
  });
  const id = first.headers.get("X-OpenHands-ServerConversation-ID")!;
  const second = await server.call("POST", chats, ask("two"), { "X-OpenHands-ServerConversation-ID": id });
  expect(second.headers.get("X-OpenHands-ServerConversation-ID")).toBe(id);
  expect(second.json).toMatchObject({
    choices: [{ message: { content: "second answer" } }],
    usage: { total_tokens: 12 },
  });
});

test("W34: a truncated answer is sent with its continuation", async () => {
  const half = { text: "The first half, ", finish_reason: "length" as const };
  await using server = await startWith({ turns: [half, { ...half, text: "more, " }, { text: "the end." }] });
  const { json } = await server.call("POST", chats, ask("one"), bearer);
  expect(json).toMatchObject({ choices: [{ message: { content: "The first half, more, the end." } }] });
});

test("W34: a client that sends its whole chat continues its conversation; an unknown chat's history is given to a new one", async () => {
  await using server = await startWith({
    turns: [{ text: "hi" }, { text: "yes" }, { text: "new" }],
    select: "in_order",
  });
  const messages = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "hello" },
  ];
  const first = await server.call("POST", chats, ask("", { messages }));
  const next = [...messages, { role: "assistant", content: "hi" }, { role: "user", content: "again?" }];
  const second = await server.call("POST", chats, ask("", { messages: next }));
  const header = "X-OpenHands-ServerConversation-ID";
  expect(second.headers.get(header)).toBe(first.headers.get(header));
  const other = [
    { role: "user", content: "blue" },
    { role: "assistant", content: "noted" },
    { role: "user", content: "which?" },
  ];
  const third = await server.call("POST", chats, ask("", { messages: other }));
  expect(third.headers.get(header)).not.toBe(first.headers.get(header));
  const [asked, , followUp] = server.model.requests.map(({ body }) => JSON.stringify(body));
  expect(asked).toContain("Be brief.");
  expect(followUp).toContain("assistant: noted");
});

test("W34: a chat goes on in its conversation after a restart, and at another server on the store", async () => {
  const store = await readTestedStore();
  const turns = [{ text: "hi" }, { text: "yes" }, { text: "indeed" }];
  await using server = await startWith({ turns, select: "in_order" }, store);
  const header = "X-OpenHands-ServerConversation-ID";
  const chatMessages = [{ role: "user", content: "hello" }];
  const next = [...chatMessages, { role: "assistant", content: "hi" }, { role: "user", content: "again?" }];
  const last = [...next, { role: "assistant", content: "yes" }, { role: "user", content: "really?" }];
  const first = await server.call("POST", chats, ask("", { messages: chatMessages }));
  await server.restart();
  const second = await server.call("POST", chats, ask("", { messages: next }));
  expect(second.headers.get(header)).toBe(first.headers.get(header));
  const folder = store.database ? {} : { dataDir: server.dataDir };
  await using other = await startTestServer({
    config: { ...store, ...folder, workspaceRoot: server.workspaceDir },
  });
  const third = await other.call("POST", chats, ask("", { messages: last }));
  expect(third.json).toMatchObject({ choices: [{ message: { content: "indeed" } }] });
  expect(third.headers.get(header)).toBe(first.headers.get(header));
});

test("W34: a stream sends each chunk when it is made", async () => {
  await using server = await startWith({
    turns: [{ text: "a long answer in pieces", chunk_size: 4, chunk_delay_ms: 5 }],
  });
  const reply = await fetch(`${server.url}${chats}`, {
    method: "POST",
    headers: { ...bearer, "Content-Type": "application/json" },
    body: JSON.stringify(ask("go", { stream: true, stream_options: { include_usage: true } })),
  });
  expect(reply.headers.get("content-type")).toContain("text/event-stream");
  const lines = (await reply.text()).split("\n\n").filter((line) => line !== "");
  expect(lines.at(-1)).toBe("data: [DONE]");
  const chunks = lines.slice(0, -1).map((line) => JSON.parse(line.replace("data: ", "")) as Chunk);
  const deltas = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.content ?? []));
  expect(deltas.join("")).toBe("a long answer in pieces");
  expect(deltas.filter((oneDelta) => oneDelta !== "").length).toBeGreaterThan(2);
  expect(chunks[0]!.choices[0]!.delta).toMatchObject({ role: "assistant" });
  expect(chunks.at(-2)!.choices[0]!.finish_reason).toBe("stop");
  expect(chunks.at(-1)!.usage).toMatchObject({ total_tokens: expect.any(Number) as number });
});

type Chunk = {
  choices: { delta: { role?: string; content?: string }; finish_reason: string | null }[];
  usage?: object | null;
};

test("errors have OpenAI's form", async () => {
  await using server = await startWith({
    turns: [{ error: { status: 400, message: "no such thing" } }],
    after_end: "error",
  });
  const errorOf = async (body: unknown, headers: Record<string, string> = {}) => {
    const { status, json } = await server.call("POST", chats, body, headers);
    return { status, ...(json as { error: { type: string; code: string; message: string } }).error };
  };
  expect(await errorOf({ ...ask("x"), model: "gpt" })).toMatchObject({
    status: 404,
    type: "not_found_error",
    code: "model_not_found",
  });
  expect(await errorOf({ model: "openhands_quick", messages: [] })).toMatchObject({
    status: 422,
    type: "invalid_request_error",
    code: "value_error",
    param: "messages",
  });
  expect(await errorOf({})).toMatchObject({
    status: 422,
    type: "invalid_request_error",
    code: "missing",
    param: "model",
  });
  expect(await errorOf(ask("x"), { "X-Session-API-Key": "wrong" })).toMatchObject({
    status: 401,
    type: "authentication_error",
  });
  expect(await errorOf(ask("x"), { "X-OpenHands-ServerConversation-ID": crypto.randomUUID() })).toMatchObject(
    { status: 404 },
  );
  expect(await errorOf(ask("x"))).toMatchObject({ status: 503, type: "server_error", code: "run_failed" });
});

test("a_gateway_conversation_tells_an_absolute_folder: that of the configuration", async () => {
  await using server = await startWith({ turns: [{ text: "hi" }] });
  const reply = await server.call("POST", chats, ask("one"), bearer);
  const id = reply.headers.get("X-OpenHands-ServerConversation-ID")!;
  expect(await server.client.getConversation(id)).toMatchObject({
    workspace: { working_dir: server.workspaceDir },
  });
});

test("/v1/responses: an answer in the newer form, whole, and a chat that is sent again goes on", async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 2 };
  await using server = await startWith({
    turns: [
      { text: "hi", usage },
      { text: "again", usage },
    ],
  });
  const post = (body: object) => server.call("POST", "/v1/responses", { model: "openhands_quick", ...body });
  const first = await post({ input: "hello", instructions: "Be brief.", metadata: { a: "b" } });
  expect(first.status, first.text).toBe(200);
  expect(first.json).toMatchObject({
    object: "response",
    status: "completed",
    model: "openhands_quick",
    metadata: { a: "b" },
    output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "hi" }] }],
    usage: { input_tokens: 10, output_tokens: 2, total_tokens: 12 },
  });
  expect(JSON.stringify(server.model.requests[0]!.body)).toContain("Be brief.");
  const input = [
    { role: "user", content: [{ type: "input_text", text: "hello" }] },
    { role: "assistant", content: [{ type: "output_text", text: "hi" }] },
    { role: "user", content: "more" },
  ];
  const second = await post({ input, instructions: "Be brief." });
  const header = "X-OpenHands-ServerConversation-ID";
  expect(second.headers.get(header)).toBe(first.headers.get(header));
  expect(second.json).toMatchObject({ output: [{ content: [{ text: "again" }] }] });
  const { status, json } = await post({ input: [] });
  expect({ status, json }).toMatchObject({ status: 422, json: { error: { type: "invalid_request_error" } } });
});
