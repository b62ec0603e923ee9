import { fileURLToPath } from "node:url";
import { findMarkedProcesses } from "@convoke/tool-host";
import { expect, test } from "vitest";
import { startMcpHttpServer } from "../../testing/mcp/http-server.ts";
import type { Script } from "../../testing/scripted-model/script.ts";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";
import { until } from "../../testing/until.ts";

const program = fileURLToPath(new URL("../../testing/mcp/stdio-server.ts", import.meta.url));
const times = { firstRetryMs: 50, reconnectTimeoutMs: 10_000 };
/** For a run whose servers start first. */
const timeoutMs = 120_000;

const stdio = (mode: string, more: object = {}): object => ({
  command: process.execPath,
  args: [program, mode],
  ...more,
});

async function startWith(script: Script): Promise<TestServer> {
  return await startTestServer({
    script,
    mcp: { times, firstWaitMs: 20_000 },
    environment: { PATH: "/usr/local/bin:/usr/bin:/bin" },
  });
}

async function run(server: TestServer, mcp: object, more: object = {}): Promise<string> {
  const request = server.startRequest({ text: "go" });
  const { agent_fields: agent = {}, ...rest } = more as { agent_fields?: object };
  const start = { ...request, ...rest, agent: { ...request.agent, mcp_config: mcp, ...agent } };
  const { id } = await server.client.startConversation(start as typeof request);
  await server.waitForStatus(id, "finished", timeoutMs);
  return id;
}

const call = (name: string, args: object = {}) => ({ tool_calls: [{ name, arguments: { ...args } }] });

test("P20: a tool of a server is called with its arguments, and its answer is an observation", async () => {
  await using server = await startWith({
    turns: [
      call("echo", { text: "hey $WORD", summary: "Says hey" }),
      call("echo", { wrong: 1 }),
      { text: "done" },
    ],
  });
  const id = await run(
    server,
    { one: stdio("good") },
    { secrets: { WORD: { kind: "StaticSecret", value: "secret-word-7" } } },
  );
  const events = await server.events(id);
  const [action, wrong] = events.filter(({ kind }) => kind === "ActionEvent");
  expect(action).toMatchObject({
    tool_name: "echo",
    summary: "Says hey",
    action: { kind: "MCPToolAction", data: { text: "hey $WORD" } },
  });
  expect(wrong).toMatchObject({ action: { kind: "MCPToolAction", data: { wrong: 1 } } });
  const observation = events.find(({ kind }) => kind === "ObservationEvent");
  expect(observation).toMatchObject({
    tool_name: "echo",
    observation: {
      kind: "MCPToolObservation",
      tool_name: "echo",
      is_error: false,
      content: [{ text: "[echo answered]" }, { text: "echo hey <secret-hidden>" }],
    },
  });
  const error = events.find(({ kind }) => kind === "AgentErrorEvent");
  expect(JSON.stringify(error)).toContain("text: Add this field");
});

test("P20: a server that dies in the middle of a call comes back by itself, and one event says so", async () => {
  await using server = await startWith({
    turns: [call("echo", { text: "a" }), call("echo", { text: "b" }), { text: "done" }],
  });
  const id = await run(server, { one: stdio("crash-mid-call") });
  const events = await server.events(id);
  const observations = events.filter(({ kind }) => kind === "ObservationEvent");
  expect(observations.length).toBe(2);
  expect(JSON.stringify(observations)).toContain("exit code 9");
  expect(events.filter(({ kind }) => kind === "ConversationErrorEvent").length).toBe(1);
});

test("headers and keys of a configuration reach a remote server, and nobody else", async () => {
  await using mcp = await startMcpHttpServer();
  await using server = await startWith({
    turns: [call("read"), call("read"), call("write"), { text: "done" }],
  });
  const id = await run(server, {
    one: { url: mcp.url, headers: { "X-Team": "a" }, auth: "key-of-the-server-1" },
  });
  expect(mcp.calls).toEqual(["read", "read", "write"]);
  expect(mcp.requests.every((headers) => headers["authorization"] === "Bearer key-of-the-server-1")).toBe(
    true,
  );
  expect(mcp.requests.every((headers) => headers["x-team"] === "a")).toBe(true);
  expect(JSON.stringify(await server.events(id))).not.toContain("key-of-the-server-1");
});

test.for([
  { name: "read", isMade: true },
  { name: "write", isMade: false },
])("P58: after a 404 the call of $name is made: $isMade", async ({ name, isMade }) => {
  await using mcp = await startMcpHttpServer();
  await using server = await startWith({
    turns: [{ text: "hello" }, call(name), call(name), { text: "done" }],
    select: "in_order",
  });
  const id = await run(server, { one: { url: mcp.url } });
  mcp.forget();
  await server.client.sendMessage(id, { content: [{ type: "text", text: "again" }], run: true });
  await until(
    async () => (await server.events(id)).filter(({ kind }) => kind === "ObservationEvent").length === 2,
  );
  await server.waitForStatus(id, "finished");
  expect(mcp.calls.length).toBe(isMade ? 2 : 1);
  const observations = (await server.events(id)).filter(({ kind }) => kind === "ObservationEvent");
  expect(JSON.stringify(observations[0])).toContain(isMade ? `did ${name}` : "was not repeated");
  expect(JSON.stringify(observations[1])).toContain(`did ${name}`);
  expect((await server.events(id)).some(({ kind }) => kind === "ConversationErrorEvent")).toBe(false);
});

test("a server over SSE works, and tools that a filter does not name are left out", async () => {
  await using mcp = await startMcpHttpServer("sse");
  await using server = await startWith({ turns: [call("read"), { text: "done" }] });
  const id = await run(
    server,
    { mcpServers: { one: { url: mcp.url } } },
    { agent_fields: { filter_tools_regex: "re" } },
  );
  expect(mcp.calls).toEqual(["read"]);
  const names = toolsOf(server, 0);
  expect(names).toContain("read");
  expect(names).not.toContain("write");
  expect(JSON.stringify(await server.events(id))).toContain("did read");
});

test("L23.36: tools and secrets that come after the system prompt are told to whoever reads the log", async () => {
  await using server = await startWith({
    turns: [call("echo", { text: "a" }), { text: "Hello." }],
    loop: true,
    select: "in_order",
  });
  const id = await run(server, { one: stdio("changing") });
  const shownTools = async (): Promise<string[]> => {
    const updates = (await server.events(id)).filter(
      (event) => event.kind === "ConversationStateUpdateEvent" && event.key === "tools",
    );
    return updates.map((event) => JSON.stringify("value" in event ? event.value : null));
  };
  const first = await shownTools();
  const prompt = (await server.events(id)).find(({ kind }) => kind === "SystemPromptEvent");
  expect([JSON.stringify(prompt), ...first].some((list) => list.includes('"title":"echo"'))).toBe(true);
  await until(async () => {
    await server.client.sendMessage(id, { content: [{ type: "text", text: "again" }], run: true });
    await server.waitForStatus(id, "finished");
    return (await shownTools()).at(-1)?.includes('"later"') === true;
  });
  // What has not changed is not told again.
  const count = (await shownTools()).length;
  expect(count).toBeLessThanOrEqual(first.length + 2);
  await server.client.updateSecrets(id, { LATE: "late-secret-value" });
  const registry = (await server.events(id)).findLast(
    (event) => event.kind === "ConversationStateUpdateEvent" && event.key === "secret_registry",
  );
  expect(JSON.stringify(registry)).toContain("LATE");
  expect(JSON.stringify(registry)).not.toContain("late-secret-value");
  await server.client.sendMessage(id, { content: [{ type: "text", text: "again" }], run: true });
  await server.waitForStatus(id, "finished");
  expect(await shownTools()).toHaveLength(count);
});

test("tools that change while the agent works are offered as they are now; two servers' names do not clash", async () => {
  await using server = await startWith({
    // Whoever answers first has the short name; the other one's call names a tool that is not there.
    turns: [...["echo", "one_echo", "two_echo"].map((name) => call(name, { text: "a" })), { text: "done" }],
    select: "in_order",
    after_end: "finish",
  });
  const id = await run(server, { one: stdio("changing"), two: stdio("good") });
  expect(toolsOf(server, 0).filter((name) => name.endsWith("echo"))).toHaveLength(2);
  await until(async () => {
    await server.client.sendMessage(id, { content: [{ type: "text", text: "again" }], run: true });
    await server.waitForStatus(id, "finished");
    return toolsOf(server, server.model.requests.length - 1).includes("later");
  });
  expect(
    toolsOf(server, server.model.requests.length - 1).filter((name) => name.endsWith("echo")),
  ).toHaveLength(1);
});

test("P13, W9: secrets of a configuration are in no event and no reply, and a program gets only what it may", async () => {
  await using server = await startWith({ turns: [call("environment"), { text: "done" }] });
  const secret = "canary-4f2a-of-the-env";
  const mcp = {
    one: stdio("good", { env: { API_TOKEN: secret, FROM: "${CHOSEN}", MODE: "${MISSING:-usual}" } }),
  };
  const chosen = { kind: "StaticSecret", value: "chosen-value-31" };
  const id = await run(server, mcp, { secrets: { CHOSEN: chosen } });
  const observation = JSON.stringify(
    (await server.events(id)).find(({ kind }) => kind === "ObservationEvent"),
  );
  const info = (await server.call("GET", `/api/conversations/${id}`)).text;
  for (const text of [
    observation,
    info,
    JSON.stringify(await server.events(id)),
    JSON.stringify(server.log),
  ]) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain("chosen-value-31");
  }
  expect(observation).toContain("usual");
  expect(observation).not.toMatch(/VITEST|NODE_OPTIONS|HOME/);
  expect(info).toContain("**********");
});

test("P14, P58: closing the server ends its programs; after a restart the tools are there again", async () => {
  await using server = await startWith({ turns: [call("echo", { text: "a" }), { text: "done" }] });
  const mark = `MCP_TEST=${crypto.randomUUID()}`;
  const [name, value] = mark.split("=") as [string, string];
  const id = await run(server, { one: stdio("good", { env: { [name]: value } }) });
  expect(findMarkedProcesses(mark).length).toBe(1);
  await server.restart();
  await expect.poll(() => findMarkedProcesses(mark).length).toBe(0);
  await server.client.sendMessage(id, { content: [{ type: "text", text: "again" }], run: true });
  await server.waitForStatus(id, "finished", timeoutMs);
  expect(toolsOf(server, server.model.requests.length - 1)).toContain("echo");
});

test("a configuration that can never work is refused by name", async () => {
  await using server = await startWith({ turns: [] });
  const request = server.startRequest();
  const agent = { ...request.agent, mcp_config: { one: { url: "nonsense" }, two: { transport: "stdio" } } };
  const reply = await server.call("POST", "/api/conversations", { ...request, agent });
  expect(reply.status).toBe(422);
  const locations = (reply.json as { detail: { loc: string[] }[] }).detail.map(({ loc }) => loc.join("."));
  expect(locations).toEqual(["body.agent.mcp_config.one.url", "body.agent.mcp_config.two.command"]);
});

function toolsOf(server: TestServer, index: number): string[] {
  const body = server.model.requests[index]?.body as { tools?: { function: { name: string } }[] } | undefined;
  return (body?.tools ?? []).map((tool) => tool.function.name);
}

type Wait = { code: string; detail: string; until: string } | null;

function waitsIn(events: readonly object[]): Wait[] {
  return events.flatMap((event) => {
    const { key, value } = event as { key?: unknown; value?: unknown };
    return key === "model_retry" ? [value as Wait] : [];
  });
}

test("client 2: the first request waits for a server that starts slowly, and the state says for which", async () => {
  await using server = await startTestServer({
    script: { turns: [call("echo", { text: "hey" }), { text: "done" }], select: "in_order" },
    environment: { PATH: "/usr/local/bin:/usr/bin:/bin" },
  });
  const id = await run(server, { quick: stdio("good"), slow: stdio("slow-start") });
  expect(toolsOf(server, 0)).toEqual(expect.arrayContaining(["echo", "slow_echo"]));
  const events = await server.events(id);
  expect(waitsIn(events)).toEqual([
    expect.objectContaining({
      code: "MCPServersStarting",
      detail: expect.stringContaining("slow") as string,
    }),
    null,
  ]);
  expect(JSON.stringify(waitsIn(events))).not.toContain("quick");
  const order = events.map((event) =>
    "key" in event && event.key === "model_retry" ? event.key : event.kind,
  );
  expect(order.indexOf("MessageEvent")).toBeLessThan(order.indexOf("model_retry"));
});

test("client 2: during the wait for a server, messages are accepted and a stop works", async () => {
  await using server = await startTestServer({
    script: { turns: [{ text: "done" }], loop: true },
    environment: { PATH: "/usr/local/bin:/usr/bin:/bin" },
  });
  const request = server.startRequest({ text: "go" });
  const { id } = await server.client.startConversation({
    ...request,
    agent: { ...request.agent, mcp_config: { never: stdio("hang") } },
  });
  await until(async () => waitsIn(await server.events(id)).length > 0);
  expect((await server.client.getConversation(id)).execution_status).toBe("running");
  await server.client.sendMessage(id, { content: [{ type: "text", text: "and this" }], run: false });
  await server.client.interrupt(id);
  await server.waitForStatus(id, "paused", 10_000);
  const events = await server.events(id);
  expect(waitsIn(events).at(-1)).toBe(null);
  expect(events.filter(({ kind }) => kind === "MessageEvent")).toHaveLength(2);
  expect(server.model.requests).toHaveLength(0);
});
