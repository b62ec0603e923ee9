import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import {
  client,
  ndJsonStream,
  type ClientContext,
  type ContentBlock,
  type RequestPermissionRequest,
  type SessionUpdate,
  type SetSessionConfigOptionRequest,
} from "@agentclientprotocol/sdk";
import { startTestServer, testedPrograms, type Script } from "@convoke/server/testing";
import { defaultTools } from "@convoke/tool-host";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

const call = (name: string, args: object) => ({ name, arguments: args as Record<string, unknown> });
const on = (last_user_contains: string) => ({ match: { last_user_contains } });

const script: Script = {
  turns: [
    {
      ...on("#edit"),
      reasoning: "It is small.",
      text: "I write it.",
      chunk_size: 4,
      tool_calls: [create("a.txt")],
    },
    { ...on("#edit"), text: "Written." },
    { ...on("#remove"), tool_calls: [call("terminal", { command: "rm keep.txt" })] },
    { ...on("#remove"), text: "I let it be." },
    { ...on("#wait"), text: "Waiting.", tool_calls: [call("terminal", { command: "sleep 300" })] },
    {
      ...on("#plan"),
      tool_calls: [call("task_tracker", { command: "plan", task_list: [{ title: "Look", status: "done" }] })],
    },
    { ...on("#plan"), tool_calls: [call("finish", { message: "Planned." })] },
    { ...on("#fail"), error: { status: 400, message: "no such thing" } },
    { text: "The plan stands." },
    { text: "Carried out." },
  ],
};

function create(path: string) {
  return call("file_editor", { command: "create", path: `{{work}}/${path}`, file_text: "one\ntwo\n" });
}

let server: Awaited<ReturnType<typeof startTestServer>>;
let folder: Awaited<ReturnType<typeof openTemporaryDirectory>>;
beforeAll(async () => {
  folder = await openTemporaryDirectory();
  server = await startTestServer({
    script: { ...script, vars: { work: folder.path } },
    tools: defaultTools(),
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

type Editor = {
  readonly agent: ClientContext;
  readonly updates: SessionUpdate[];
  readonly asked: RequestPermissionRequest[];
  /** Every line of stdout. */
  readonly lines: string[];
  readonly child: ReturnType<typeof spawn>;
};

/** An editor with a `convoke acp` of its own; `answer` picks the kind of option, null: never answers. */
async function openEditor(
  answer: string | null = "allow_once",
  args: readonly string[] = [],
): Promise<Editor> {
  const child = spawn(process.execPath, [testedPrograms().command, "acp", "--server", server.url, ...args], {
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: server.folder,
      SESSION_API_KEY: server.key,
      LLM_MODEL: "openai/scripted",
      LLM_API_KEY: "llm-key",
      LLM_BASE_URL: `${server.model.url}/v1`,
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [updates, asked, lines]: [SessionUpdate[], RequestPermissionRequest[], string[]] = [[], [], []];
  let rest = "";
  child.stdout.on("data", (data: Buffer) => {
    const parts = `${rest}${data.toString()}`.split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
  });
  const connection = client({ name: "editor" })
    .onNotification("session/update", ({ params }) => void updates.push(params.update))
    .onRequest("session/request_permission", async ({ params, signal }) => {
      asked.push(params);
      if (answer === null) await once(signal, "abort");
      const option = params.options.find(({ kind }) => kind === answer);
      return option === undefined
        ? { outcome: { outcome: "cancelled" } }
        : { outcome: { outcome: "selected", optionId: option.optionId } };
    })
    .connect(
      ndJsonStream(
        Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
        Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
      ),
    );
  onTestFinished(async () => {
    child.stdin.end();
    if (child.exitCode === null) await once(child, "exit");
  });
  const { agent } = connection;
  const ready = await agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  expect(ready.agentCapabilities).toMatchObject({ loadSession: true });
  return { agent, updates, asked, lines, child };
}

function text(words: string): ContentBlock[] {
  return [{ type: "text", text: words }];
}

async function begin({ agent }: Editor) {
  return await agent.request("session/new", { cwd: folder.path, mcpServers: [] });
}

/** The kinds of updates in their order, without repeats. */
function kinds(updates: readonly SessionUpdate[]): string[] {
  const all = updates.map(({ sessionUpdate }) => sessionUpdate);
  return all.filter((kind, index) => kind !== all[index - 1]);
}

function textIn(updates: readonly SessionUpdate[], kind = "agent_message_chunk"): string {
  return updates
    .flatMap((update) => (update.sessionUpdate === kind && "content" in update ? [update.content] : []))
    .map((content) => (content && "text" in content ? content.text : ""))
    .join("");
}

test("a turn: thoughts and text as they come, an edit with its diff and place, and the end; nothing else on stdout", async () => {
  const editor = await openEditor("allow_once", ["--mode", "auto"]);
  const { sessionId, modes, configOptions } = await begin(editor);
  expect(modes).toMatchObject({ currentModeId: "auto" });
  expect(configOptions).toMatchObject([{ id: "model", category: "model" }]);
  const { stopReason } = await editor.agent.request("session/prompt", { sessionId, prompt: text("#edit") });
  expect(stopReason).toBe("end_turn");
  expect(textIn(editor.updates)).toBe("I write it.Written.");
  expect(textIn(editor.updates, "agent_thought_chunk")).toBe("It is small.");
  // The words came in pieces.
  expect(
    editor.updates.filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk").length,
  ).toBeGreaterThan(2);
  const path = join(folder.path, "a.txt");
  const diff = { type: "diff", path, newText: "one\ntwo\n", oldText: null };
  const started = editor.updates.find(({ sessionUpdate }) => sessionUpdate === "tool_call")!;
  expect(started).toMatchObject({
    kind: "edit",
    status: "pending",
    content: [diff],
    locations: [{ path, line: 1 }],
  });
  const id = (started as { toolCallId: string }).toolCallId;
  const states = editor.updates.flatMap((one) =>
    one.sessionUpdate === "tool_call_update" && one.toolCallId === id ? [one.status] : [],
  );
  expect(states.at(-1)).toBe("completed");
  expect(existsSync(path)).toBe(true);
  await expect.poll(() => kinds(editor.updates)).toContain("available_commands_update");
  for (const line of editor.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
});

test("load replays the log, list finds it, resume tells nothing of it, and a turn goes on in each", async () => {
  const first = await openEditor("allow_once", ["--mode", "auto"]);
  const { sessionId } = await begin(first);
  await first.agent.request("session/prompt", { sessionId, prompt: text("#edit") });
  const second = await openEditor();
  const { sessions } = await second.agent.request("session/list", { cwd: folder.path });
  expect(sessions.map((one) => one.sessionId)).toContain(sessionId);
  expect((await second.agent.request("session/list", { cwd: "/elsewhere" })).sessions).toEqual([]);
  const place = { sessionId, cwd: folder.path, mcpServers: [] };
  const loaded = await second.agent.request("session/load", place);
  expect(loaded).toMatchObject({ modes: { currentModeId: "auto" } });
  expect(textIn(second.updates, "user_message_chunk")).toBe("#edit");
  expect(textIn(second.updates)).toBe("I write it.Written.");
  expect(kinds(second.updates)).toEqual(expect.arrayContaining(["tool_call", "tool_call_update"]));
  const third = await openEditor();
  await third.agent.request("session/resume", place);
  expect(textIn(third.updates)).toBe("");
  const { stopReason } = await third.agent.request("session/prompt", { sessionId, prompt: text("#edit") });
  expect(stopReason).toBe("end_turn");
  expect(textIn(third.updates, "user_message_chunk")).toBe("");
  expect(textIn(third.updates)).toContain("Written.");
});

test("a permission is asked with its risk; what is refused does not run, and the turn ends as any other", async () => {
  writeFileSync(join(folder.path, "keep.txt"), "mine");
  const editor = await openEditor("reject_once", ["--mode", "ask"]);
  const { sessionId } = await begin(editor);
  const { stopReason } = await editor.agent.request("session/prompt", { sessionId, prompt: text("#remove") });
  expect(stopReason).toBe("end_turn");
  expect(editor.asked).toHaveLength(1);
  const [{ toolCall, options }] = editor.asked as [RequestPermissionRequest];
  expect(options.map(({ kind }) => kind)).toEqual(["allow_once", "allow_always", "reject_once"]);
  expect(options[1]!.name).toMatch(
    /^Always allow here: terminal: rm keep\.txt.* \(fits 1 call until now\)$/u,
  );
  expect(JSON.stringify(toolCall.content)).toContain("Risk: ");
  const end = editor.updates.findLast((one) => one.sessionUpdate === "tool_call_update");
  expect(end).toMatchObject({ toolCallId: toolCall.toolCallId, status: "failed" });
  expect(existsSync(join(folder.path, "keep.txt"))).toBe(true);
});

test("cancel ends a call that runs and a question that waits; every call has an end before the answer", async () => {
  for (const mode of ["auto", "ask"]) {
    const editor = await openEditor(null, ["--mode", mode]);
    const { sessionId } = await begin(editor);
    const turn = editor.agent.request("session/prompt", { sessionId, prompt: text("#wait") });
    const began = () =>
      mode === "ask"
        ? editor.asked.length > 0
        : editor.updates.some(
            (one) => one.sessionUpdate === "tool_call_update" && one.status === "in_progress",
          );
    await expect.poll(began, { timeout: 30_000 }).toBe(true);
    await editor.agent.notify("session/cancel", { sessionId });
    expect((await turn).stopReason, mode).toBe("cancelled");
    const ends = editor.updates.filter(
      (one) => one.sessionUpdate === "tool_call_update" && one.status === "failed",
    );
    expect(ends, mode).toHaveLength(1);
    expect(await server.client.getConversation(sessionId)).not.toMatchObject({ execution_status: "running" });
  }
});

test("the task list is a plan, and finish is a message", async () => {
  const editor = await openEditor("allow_once", ["--mode", "auto"]);
  const { sessionId } = await begin(editor);
  await editor.agent.request("session/prompt", { sessionId, prompt: text("#plan") });
  expect(editor.updates).toContainEqual({
    sessionUpdate: "plan",
    entries: [{ content: "Look", priority: "medium", status: "completed" }],
  });
  expect(textIn(editor.updates)).toBe("Planned.");
  expect(kinds(editor.updates)).not.toContain("tool_call");
});

test("modes: plan before the first prompt, carried out by /approve; later plan is refused with words", async () => {
  const editor = await openEditor();
  const { sessionId } = await begin(editor);
  await editor.agent.request("session/set_mode", { sessionId, modeId: "plan" });
  const planned = await editor.agent.request("session/prompt", { sessionId, prompt: text("Think first.") });
  expect(planned.stopReason).toBe("end_turn");
  expect(textIn(editor.updates)).toBe("The plan stands.");
  await expect(editor.agent.request("session/set_mode", { sessionId, modeId: "auto" })).rejects.toThrow(
    "/approve",
  );
  await editor.agent.request("session/prompt", { sessionId, prompt: text("/approve") });
  expect(textIn(editor.updates)).toContain("Carried out.");
  expect(editor.updates.findLast((one) => one.sessionUpdate === "current_mode_update")).toMatchObject({
    currentModeId: "risky",
  });
  await editor.agent.request("session/set_mode", { sessionId, modeId: "ask" });
  const { confirmation_policy: policy } = await server.client.getConversation(sessionId);
  expect(policy).toMatchObject({ kind: "AlwaysConfirm" });
  await expect(editor.agent.request("session/set_mode", { sessionId, modeId: "plan" })).rejects.toThrow(
    "from its first message on",
  );
});

test("the stored models are an option, and the editor's MCP servers are those of the conversation", async () => {
  const llm = { model: "openai/other", base_url: `${server.model.url}/v1`, api_key: "llm-key" };
  await server.call("POST", "/api/profiles/other", { llm });
  const editor = await openEditor();
  const { sessionId } = await editor.agent.request("session/new", {
    cwd: folder.path,
    mcpServers: [
      { name: "files", command: "/no/such/program", args: ["-y"], env: [{ name: "LEVEL", value: "info" }] },
      { type: "http", name: "tickets", url: "https://tickets.example/mcp", headers: [] },
    ],
  });
  const { agent } = await server.client.getConversation(sessionId);
  expect(Object.keys((agent.mcp_config as { mcpServers: object }).mcpServers)).toEqual(["files", "tickets"]);
  const request: SetSessionConfigOptionRequest = { sessionId, configId: "model", value: "other" };
  const { configOptions } = await editor.agent.request("session/set_config_option", request);
  expect(configOptions).toMatchObject([{ id: "model", currentValue: "other" }]);
  expect((await server.client.getConversation(sessionId)).agent.llm.model).toBe("openai/other");
});

test("errors: the run's with the event that has the details, ours with words and code", async () => {
  const editor = await openEditor();
  const { sessionId } = await begin(editor);
  const failure = await editor.agent
    .request("session/prompt", { sessionId, prompt: text("#fail") })
    .catch((error: unknown) => error as { code: number; data: { code: string; error_id: string } });
  expect(failure).toMatchObject({ code: -32603, data: { code: expect.any(String) as string } });
  const { error_id: id } = (failure as { data: { error_id: string } }).data;
  expect(await server.client.getEvent(sessionId, id)).toMatchObject({ kind: "ConversationErrorEvent" });
  const refused = async (method: "session/load", params: object) =>
    await editor.agent.request<unknown>(method, params).catch((error: unknown) => error);
  const missing = { sessionId: crypto.randomUUID(), cwd: "/", mcpServers: [] };
  expect(await refused("session/load", missing)).toMatchObject({ code: -32002 });
  expect(
    await editor.agent.request("session/new", { cwd: "here", mcpServers: [] }).catch((error) => error),
  ).toMatchObject({
    code: -32602,
    message: expect.stringContaining("absolute") as string,
  });
});

test("an editor that goes away in the midst leaves the run to the server, and its agent ends", async () => {
  const editor = await openEditor("allow_once", ["--mode", "auto"]);
  const { sessionId } = await begin(editor);
  editor.agent.request("session/prompt", { sessionId, prompt: text("#wait") }).catch(() => undefined);
  await server.waitForStatus(sessionId, "running");
  const ended = once(editor.child, "exit");
  editor.child.stdin!.end();
  expect(await ended).toEqual([0, null]);
  expect(await server.client.getConversation(sessionId)).toMatchObject({ execution_status: "running" });
  await server.client.interrupt(sessionId);
});
