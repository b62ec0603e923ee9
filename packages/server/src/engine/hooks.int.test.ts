import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../testing/start-server.ts";

const run = (id: string, command: string) => ({
  tool_calls: [{ id, name: "terminal", arguments: { command } }],
});

async function eventsOf(server: TestServer, id: string): Promise<Record<string, unknown>[]> {
  const page = await server.call("GET", `/api/conversations/${id}/events/search?limit=100`);
  return (page.json as { items: Record<string, unknown>[] }).items;
}

const group = (command: string, more: object = {}) => [{ matcher: "*", hooks: [{ command, ...more }] }];

test("all six moments: hooks get the event, a denied call never starts, and the log has a record of each", async () => {
  await using server = await startTestServer({
    script: {
      turns: [run("a", "echo allowed"), run("b", "rm -rf /"), { text: "Early." }, { text: "Done." }],
    },
    environment: { PATH: process.env["PATH"] ?? "", CANARY: "in-environment" },
  });
  const guard = 'input=$(cat); case "$input" in *"rm -rf"*) echo "no deleting" >&2; exit 2;; esac';
  const { id } = await server.createConversation({
    tags: { by: "newer" },
    text: "go",
    hook_config: {
      pre_tool_use: [{ matcher: "terminal", hooks: [{ command: guard }] }],
      post_tool_use: group("cat > post.json"),
      user_prompt_submit: group(`echo '{"additionalContext":"Speak softly."}'`),
      session_start: group("env > env.txt"),
      session_end: group("touch ended"),
      stop: group("test -e stopped && exit 0; touch stopped; echo 'run the tests' >&2; exit 2"),
    },
  });
  await server.waitForStatus(id, "finished", 40_000);
  const events = await eventsOf(server, id);
  const kinds = events.map(({ kind }) => kind);
  expect(kinds[0]).toBe("SystemPromptEvent");
  const answers = events.filter(
    ({ kind }) => kind === "ObservationEvent" || kind === "UserRejectObservation",
  );
  expect(answers).toMatchObject([
    { kind: "ObservationEvent", tool_call_id: "a" },
    {
      kind: "UserRejectObservation",
      tool_call_id: "b",
      rejection_reason: "no deleting",
      rejection_source: "hook",
    },
  ]);
  const records = events.filter(({ kind }) => kind === "HookExecutionEvent");
  expect(records.map((event) => [event["hook_event_type"], event["blocked"] ?? false])).toEqual([
    ["SessionStart", false],
    ["UserPromptSubmit", false],
    ["PreToolUse", false],
    ["PostToolUse", false],
    ["PreToolUse", true],
    ["Stop", true],
    ["Stop", false],
  ]);
  expect(records[0]).toMatchObject({ source: "hook", success: true, exit_code: 0 });
  const user = events.find(({ kind, source }) => kind === "MessageEvent" && source === "user");
  expect(JSON.stringify(user?.["extended_content"])).toContain("Speak softly.");
  expect(events.some((event) => JSON.stringify(event).includes("may not end yet. run the tests"))).toBe(true);
  const payload = JSON.parse(await readFile(join(server.workspaceDir, "post.json"), "utf8")) as object;
  expect(payload).toMatchObject({
    event_type: "PostToolUse",
    tool_name: "terminal",
    tool_input: { kind: "TerminalAction", command: "echo allowed" },
    session_id: id,
    message: null,
  });
  const environment = await readFile(join(server.workspaceDir, "env.txt"), "utf8");
  expect(environment).toContain("OPENHANDS_EVENT_TYPE=SessionStart");
  expect(environment).not.toContain(server.key);
  await server.restart();
  await readFile(join(server.workspaceDir, "ended"));
});

test("W8, L23.10: a message that a hook denies never reaches the log or the model, also when the hook adds context", async () => {
  await using server = await startTestServer({ script: { turns: [{ text: "Hello." }], loop: true } });
  const denying = `input=$(cat); case "$input" in *wicked*) echo '{"decision":"deny","reason":"not that","additionalContext":"c"}';; esac`;
  const { id } = await server.createConversation({
    hook_config: { hooks: { UserPromptSubmit: group(denying) } },
  } as never);
  const send = (text: string) =>
    server.call("POST", `/api/conversations/${id}/events`, {
      role: "user",
      content: [{ type: "text", text }],
      run: true,
    });
  const refused = await send("something wicked");
  expect(refused.status).toBe(403);
  expect(refused.json).toMatchObject({ code: "hook_denied" });
  expect(refused.text).toContain("not that");
  expect((await send("fine")).status).toBe(200);
  await server.waitForStatus(id, "finished");
  const events = await eventsOf(server, id);
  const messages = events.filter(({ kind, source }) => kind === "MessageEvent" && source === "user");
  expect(JSON.stringify(messages)).not.toContain("wicked");
  expect(messages).toHaveLength(1);
});

test("L23.11: a hook that hangs is ended in time: a guard denies, another one does not", async () => {
  await using server = await startTestServer({
    script: { turns: [run("a", "echo one"), { text: "Done." }], loop: true },
  });
  for (const [policy, kind] of [
    ["deny", "UserRejectObservation"],
    ["allow", "ObservationEvent"],
  ] as const) {
    const { id } = await server.createConversation({
      text: "go",
      hook_config: { pre_tool_use: group("sleep 300", { timeout: 1, on_failure: policy }) },
    });
    await server.waitForStatus(id, "finished");
    const events = await eventsOf(server, id);
    expect(events.filter(({ tool_call_id: call }) => call === "a").at(-1)).toMatchObject({ kind });
  }
});

test("without hooks nothing about hooks is in a log, and a hook that cannot be carried out is refused", async () => {
  await using server = await startTestServer({ script: { turns: [{ text: "Hello." }] } });
  const { id } = await server.createConversation({ text: "hi" });
  await server.waitForStatus(id, "finished");
  expect(JSON.stringify(await eventsOf(server, id)).toLowerCase()).not.toContain("hook");
  const body = server.startRequest({ text: "hi" });
  const bad = { ...body, hook_config: { stop: [{ matcher: "(", hooks: [{ command: "x" }] }] } };
  expect((await server.call("POST", "/api/conversations", bad)).status).toBe(422);
});
