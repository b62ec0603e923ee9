import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { startTestServer, testedPrograms, type Script } from "@convoke/server/testing";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

const on = (last_user_contains: string) => ({ match: { last_user_contains } });
const terminal = (command: string) => ({ tool_calls: [{ name: "terminal", arguments: { command } }] });

const script: Script = {
  turns: [
    { ...on("#work"), ...terminal("ls") },
    { ...on("#work"), text: "The zebra is found." },
    { ...on("#hold"), ...terminal("hold") },
    { ...on("#hold"), text: "Let go." },
    { ...on("#steps"), ...terminal("hold steps") },
    { ...on("#steps"), ...terminal("ls") },
    { ...on("#steps"), text: "Two steps." },
    { ...on("#outer"), tool_calls: [{ name: "start_conversation", arguments: { task: "#work" } }] },
    { ...on("#outer"), text: "Begun." },
    { ...on("#more"), text: "As you say." },
  ],
};

let server: Awaited<ReturnType<typeof startTestServer>>;
beforeAll(async () => {
  server = await startTestServer({ script });
});
afterAll(async () => await server[Symbol.asyncDispose]());

/** How an MCP server of `convoke mcp` is started. */
function program(args: readonly string[] = []) {
  return {
    command: process.execPath,
    args: [
      testedPrograms().command,
      "mcp",
      "--server",
      server.url,
      "--workspace",
      server.workspaceDir,
      ...args,
    ],
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: server.folder,
      SESSION_API_KEY: server.key,
      LLM_MODEL: "openai/scripted",
      LLM_API_KEY: "llm-key",
      LLM_BASE_URL: `${server.model.url}/v1`,
    },
  };
}

async function openMcp(args: readonly string[] = ["--mode", "auto"]) {
  const client = new Client({ name: "other agent", version: "1.0.0" });
  await client.connect(new StdioClientTransport(program(args)));
  onTestFinished(() => client.close());
  const progress: string[] = [];
  const call = async (name: string, given: object, meta?: object) => {
    const request = { name, arguments: given as Record<string, unknown>, ...(meta ? { _meta: meta } : {}) };
    const result = await client.callTool(request as never, {
      onprogress: ({ message }) => progress.push(message ?? ""),
    });
    const [first] = result.content as { text: string }[];
    return {
      isError: result.isError === true,
      text: first?.text ?? "",
      ...(result.structuredContent as Found),
    };
  };
  return { client, call, progress };
}

type Found = {
  readonly id: string;
  readonly status: string;
  readonly answer: string;
  readonly waiting: { readonly action_id: string; readonly tool: string }[];
  readonly events: { readonly id: string; readonly kind: string; readonly text: string }[];
  readonly cursor: string;
  readonly hits: { readonly conversation_id: string; readonly text: string }[];
};

test("an agent starts another one, waits, reads on from a cursor, searches, and reads the resource", async () => {
  const { client, call } = await openMcp();
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    "start_conversation",
    "send_message",
    "wait_for_conversation",
    "read_conversation",
    "answer_approval",
    "stop_conversation",
    "search",
  ]);
  expect(tools.every(({ outputSchema }) => outputSchema !== undefined)).toBe(true);
  const { id } = await call("start_conversation", { task: "#work" });
  const rest = await call("wait_for_conversation", { id, timeout_s: 50 });
  expect(rest).toMatchObject({ status: "finished", answer: "The zebra is found.", waiting: [] });
  const read = await call("read_conversation", { id, limit: 3 });
  expect(read.events).toHaveLength(3);
  const next = await call("read_conversation", { id, after_event_id: read.cursor, limit: 100 });
  expect(next.events.map((event) => event.id)).not.toContain(read.cursor);
  expect(next.events.map(({ text }) => text)).toContain("The zebra is found.");
  await call("send_message", { id, message: "#more" });
  await expect.poll(async () => (await call("wait_for_conversation", { id })).answer).toBe("As you say.");
  await expect.poll(async () => (await call("search", { query: "zebra" })).hits.length).toBeGreaterThan(0);
  const { contents } = await client.readResource({ uri: `convoke://conversation/${id}` });
  expect(JSON.parse((contents[0] as { text: string }).text)).toMatchObject({ id, answer: "As you say." });
});

test("a wait ends at its time, and a stop ends the work", async () => {
  const { call } = await openMcp();
  const { id } = await call("start_conversation", { task: "#hold" });
  expect(await call("wait_for_conversation", { id, timeout_s: 0.2 })).toMatchObject({
    id,
    status: "running",
  });
  expect(await call("stop_conversation", { id })).toMatchObject({ id, status: "paused" });
});

test("approvals stay with a person, unless the person who started the server lets the agent answer", async () => {
  const { call } = await openMcp(["--mode", "ask"]);
  const { id } = await call("start_conversation", { task: "#work" });
  const { status, waiting } = await call("wait_for_conversation", { id, timeout_s: 50 });
  expect({ status, tools: waiting.map(({ tool }) => tool) }).toEqual({
    status: "waiting_for_confirmation",
    tools: ["terminal"],
  });
  const answer = { id, action_id: waiting[0]!.action_id, accept: true };
  const refused = await call("answer_approval", answer);
  expect(refused).toMatchObject({
    isError: true,
    text: expect.stringContaining("--allow-approve") as string,
  });
  expect(await server.client.getConversation(id)).toMatchObject({ execution_status: status });
  const allowed = await openMcp(["--mode", "ask", "--allow-approve"]);
  expect(await allowed.call("answer_approval", answer)).toMatchObject({ isError: false });
  expect(await allowed.call("wait_for_conversation", { id })).toMatchObject({ status: "finished" });
});

test("what cannot be done is a result with words; arguments are checked by their schema", async () => {
  const { call } = await openMcp();
  const missing = await call("read_conversation", { id: crypto.randomUUID() });
  expect(missing).toMatchObject({ isError: true, text: expect.stringContaining("not found") as string });
  expect(await call("wait_for_conversation", { id: "x", timeout_s: 500 })).toMatchObject({ isError: true });
  const deep = await call("start_conversation", { task: "#work" }, { "convoke/depth": 4 });
  expect(deep).toMatchObject({ isError: true, text: expect.stringContaining("more than 3") as string });
});

test("a conversation of this server uses it, and a chain of conversations that start others ends", async () => {
  const mcp_config = { mcpServers: { convoke: program(["--mode", "auto"]) } };
  const request = server.startRequest({ text: "#outer" });
  const body = { ...request, agent: { ...request.agent, mcp_config } };
  const outcomeAt = async (depth: number): Promise<string> => {
    const { json } = await server.call("POST", "/api/conversations", body, {
      "X-Convoke-Start-Depth": String(depth),
    });
    const { id } = json as { id: string };
    await server.waitForStatus(id, "finished");
    const found = (await server.events(id)).find(({ kind }) => kind === "ObservationEvent");
    return JSON.stringify(found);
  };
  const begun = await outcomeAt(0);
  expect(begun).toMatch(/\\"status\\":\\"(running|finished|idle)\\"/u);
  expect(await outcomeAt(3)).toContain("more than 3 others");
  const refused = await server.call("POST", "/api/conversations", body, { "X-Convoke-Start-Depth": "4" });
  expect(refused).toMatchObject({ status: 400, json: { code: "started_too_deep" } });
});

test("a wait reports what the agent does as progress", async () => {
  const { call, progress } = await openMcp();
  const { id } = await call("start_conversation", { task: "#steps" });
  await expect.poll(() => server.quickTools.started).toContain("hold steps");
  const waiting = call("wait_for_conversation", { id, timeout_s: 50 });
  await expect.poll(() => progress).toEqual(["The agent is at work."]);
  server.quickTools.release();
  expect(await waiting).toMatchObject({ status: "finished", answer: "Two steps." });
  expect(progress.slice(1)).toEqual([expect.stringContaining("terminal: ")]);
});
