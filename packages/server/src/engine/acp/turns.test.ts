import { Readable } from "node:stream";
import { expect, test } from "vitest";
import type { AgentFiles } from "../../extensions/acp/client-files.ts";
import { openMemoryAgent } from "../../testing/acp/memory-agent.ts";
import { startInProcess } from "../../testing/acp/start-in-process.ts";
import { logLines } from "../../testing/acp/log-lines.ts";
import { storedEvents } from "../../testing/memory-conversation.ts";
import { until } from "../../testing/until.ts";
import type { ConversationConfig } from "../conversation-config.ts";

const asking: Partial<ConversationConfig> = { confirmation_policy: { kind: "AlwaysConfirm" } };
const remove = { id: "c1", title: "rm a.txt", kind: "execute", rawInput: { command: "rm a.txt" } };
type Opened = Awaited<ReturnType<typeof openMemoryAgent>>;

const methods = ({ agents }: Opened): string[] => agents.calls.map(({ method }) => method);
const statusOf = ({ conversation }: Opened): string => conversation.state.status;
const callsIn = (opened: Opened) =>
  storedEvents(opened).flatMap(({ event }) => (event.kind === "ACPToolCallEvent" ? [event] : []));

/** Sends a message that runs, and does not wait for the end. */
async function send({ conversation }: Opened, text: string): Promise<void> {
  const content = [{ type: "text" as const, text, cache_prompt: false }];
  await conversation.send({ message: { role: "user", content, thinking_blocks: [] }, wantsRun: true });
}

test("a prompt is recorded before it is sent; its message, its tokens and its end follow", async () => {
  await using opened = await openMemoryAgent({
    prompts: [
      [
        { think: "Hm." },
        { say: "Hel" },
        { say: "lo" },
        { end: "end_turn", usage: { inputTokens: 7, outputTokens: 2 } },
      ],
    ],
  });
  expect(await opened.run("hi")).toBe("finished");
  expect(logLines(opened)).toEqual([
    "user: hi",
    "is running",
    "state acp_session",
    "prompt begun",
    "agent: Hello",
    "state stats",
    "prompt ended end_turn",
    "is finished",
  ]);
  const answer = storedEvents(opened).find(
    ({ event }) => event.kind === "MessageEvent" && event.source === "agent",
  );
  expect(answer?.event).toMatchObject({ llm_message: { reasoning_content: "Hm." } });
  expect(opened.conversation.state.stats).toMatchObject({
    acp: { accumulated_cost: 0, accumulated_token_usage: { prompt_tokens: 7, completion_tokens: 2 } },
  });
  expect(opened.agents.calls.at(-1)).toEqual({
    method: "session/prompt",
    params: [{ type: "text", text: "hi" }],
  });
  expect(opened.agents.specs).toMatchObject([
    { command: "scripted", environment: { KEY: "value" }, workingDir: "/work" },
  ]);
});

test("one session and one program serve all messages, and a message during a prompt is in the next one", async () => {
  await using opened = await openMemoryAgent({ prompts: [[{ hang: "until cancelled" }]] });
  await send(opened, "one");
  await until(() => methods(opened).includes("session/prompt"));
  await send(opened, "two");
  await opened.conversation.halts.interrupt();
  expect(await opened.run("three")).toBe("finished");
  expect(methods(opened)).toEqual([
    "initialize",
    "session/new",
    "session/prompt",
    "session/cancel",
    "session/prompt",
  ]);
  expect(opened.agents.calls.at(-1)!.params).toEqual([
    { type: "text", text: "two" },
    { type: "text", text: "three" },
  ]);
});

test("calls are told when they have begun and when they have ended, between the messages around them", async () => {
  const call = {
    sessionUpdate: "tool_call" as const,
    toolCallId: "c1",
    title: "ls",
    kind: "execute" as const,
  };
  const update = { sessionUpdate: "tool_call_update" as const, toolCallId: "c1" };
  await using opened = await openMemoryAgent({
    prompts: [
      [
        { say: "I look." },
        { update: { ...call, status: "pending", rawInput: {} } },
        { update: { ...update, status: "in_progress", rawInput: { command: "ls" } } },
        { update: { ...update, status: "in_progress", content: [] } },
        { update: { ...update, status: "completed", rawOutput: { output: "a.txt" } } },
        { say: "One file." },
      ],
    ],
  });
  await opened.run("look");
  expect(logLines(opened).slice(3)).toEqual([
    "prompt begun",
    "agent: I look.",
    "call c1 in_progress",
    "call c1 completed",
    "agent: One file.",
    "prompt ended end_turn",
    "is finished",
  ]);
  expect(callsIn(opened)).toMatchObject([
    { title: "ls", tool_kind: "execute", raw_input: { command: "ls" }, is_error: false },
    { raw_input: { command: "ls" }, raw_output: { output: "a.txt" }, is_error: false },
  ]);
});

test("a plan is the task list of the conversation", async () => {
  await using opened = await openMemoryAgent({
    prompts: [
      [
        {
          plan: [
            { content: "Look", priority: "high", status: "completed" },
            { content: "Write", priority: "low", status: "in_progress" },
          ],
        },
      ],
    ],
  });
  expect(await opened.run("plan")).toBe("finished");
  expect(opened.conversation.state.plan).toEqual({ done: 1, total: 2, current: "Write" });
});

test("without a policy that asks, what the agent asks for is allowed once, and recorded before it goes on", async () => {
  await using opened = await openMemoryAgent({
    prompts: [[{ say: "So." }, { ask: remove }, { say: "Gone." }]],
  });
  expect(await opened.run("go")).toBe("finished");
  expect(logLines(opened).slice(3)).toEqual([
    "prompt begun",
    "agent: So.",
    "call c1 pending",
    "action terminal c1",
    "ObservationEvent c1",
    "call c1 completed",
    "agent: Gone.",
    "prompt ended end_turn",
    "is finished",
  ]);
  expect(callsIn(opened).at(-1)).toMatchObject({ raw_output: { outcome: "selected", optionId: "yes" } });
});

test("a person allows or rejects what the agent asks for, while the prompt waits", async () => {
  const prompts = [[{ ask: remove }, { say: "Done." }]];
  for (const isAllowed of [true, false]) {
    await using opened = await openMemoryAgent({ prompts }, { config: asking });
    const { conversation } = opened;
    await send(opened, "go");
    await until(() => statusOf(opened) === "waiting_for_confirmation");
    expect(conversation.isBusy).toBe(true);
    const [action] = conversation.state.openActions;
    expect(action).toMatchObject({ toolName: "terminal", toolCallId: "c1", gate: "awaiting" });
    if (isAllowed) await conversation.answer([{ action_id: action!.id, accept: true }], "user");
    else await conversation.reject("No.");
    await until(() => !conversation.isBusy);
    expect(statusOf(opened)).toBe("finished");
    expect(callsIn(opened).at(-1)).toMatchObject({
      status: isAllowed ? "completed" : "failed",
      raw_output: { optionId: isAllowed ? "yes" : "no" },
    });
    expect(methods(opened).filter((method) => method === "session/prompt")).toHaveLength(1);
  }
});

test("a rule denies what it denies, without a person; one that allows it asks nobody", async () => {
  const rule = { tool: "terminal", command: ["rm", "*"], effect: "deny" as const };
  const prompts = [[{ ask: remove }, { say: "Done." }]];
  await using denied = await openMemoryAgent({ prompts }, { config: { ...asking, allow_rules: [rule] } });
  expect(await denied.run("go")).toBe("finished");
  expect(callsIn(denied).at(-1)).toMatchObject({ raw_output: { optionId: "no" } });
  const allow = { tool: "acp_fetch", effect: "allow" as const };
  const fetch = { id: "c2", title: "Fetch it", kind: "fetch", rawInput: { url: "https://example.org" } };
  const script = { prompts: [[{ ask: fetch }, { say: "Done." }]] };
  await using allowed = await openMemoryAgent(script, { config: { ...asking, allow_rules: [allow] } });
  expect(await allowed.run("go")).toBe("finished");
  expect(callsIn(allowed).at(-1)).toMatchObject({ raw_output: { optionId: "yes" } });
});

test("words of a command are read by rules as a shell reads them", async () => {
  const rule = { tool: "terminal", command: ["git", "push", "**"], effect: "deny" as const };
  const rawInput = { command: ["sh", "-c", "git push origin main"] };
  const push = { id: "c1", title: "push", kind: "execute", rawInput };
  const script = { prompts: [[{ ask: push }, { say: "Done." }]] };
  await using opened = await openMemoryAgent(script, { config: { allow_rules: [rule] } });
  expect(await opened.run("go")).toBe("finished");
  expect(callsIn(opened).at(-1)).toMatchObject({ raw_output: { optionId: "no" } });
});

/** The files of a conversation, which an agent reads and writes through us. */
function memoryFiles(): { readonly written: Record<string, string>; readonly files: AgentFiles } {
  const written: Record<string, string> = {};
  const files = {
    readFile: async () => ({ stat: { sizeBytes: 2 }, content: Readable.from([Buffer.from("hi")]) }),
    writeFile: async (path: string, content: AsyncIterable<Uint8Array>) => {
      for await (const bytes of content) written[path] = Buffer.from(bytes).toString("utf8");
    },
  };
  return { written, files: files as unknown as AgentFiles };
}

const writeNew = { write: { path: "/work/a.txt", content: "new" } };

test("what the agent has us do without asking waits for a person where the policy asks", async () => {
  for (const isAllowed of [true, false]) {
    const { files, written } = memoryFiles();
    const prompts = [[{ read: "/work/b.txt" }, writeNew]];
    await using opened = await openMemoryAgent({ prompts }, { config: asking, files });
    await send(opened, "go");
    await until(() => statusOf(opened) === "waiting_for_confirmation");
    expect(written).toEqual({});
    await (isAllowed ? opened.conversation.accept() : opened.conversation.reject("no"));
    await until(() => !opened.conversation.isBusy);
    expect(written).toEqual(isAllowed ? { "/work/a.txt": "new" } : {});
    const ends = callsIn(opened).map(({ status }) => status);
    expect(ends).toEqual(["in_progress", "completed", "pending", isAllowed ? "completed" : "failed"]);
  }
});

test("a rule that asks holds for what the agent has us do, also to read", async () => {
  const rule = { tool: "acp_read", effect: "ask" as const };
  const { files } = memoryFiles();
  const script = { prompts: [[{ read: "/work/b.txt" }]] };
  await using opened = await openMemoryAgent(script, { config: { allow_rules: [rule] }, files });
  await send(opened, "go");
  await until(() => statusOf(opened) === "waiting_for_confirmation");
  await opened.conversation.accept();
  await until(() => !opened.conversation.isBusy);
  expect(logLines(opened)).toContain("agent: hi");
});

test("what a person has allowed the agent is not asked for again when it has us do it, once", async () => {
  const { files, written } = memoryFiles();
  const rawInput = { path: "/work/a.txt" };
  const ask = { id: "c1", title: "Write a.txt", kind: "edit", rawInput };
  const prompts = [[{ ask }, writeNew, { say: "Once." }, writeNew]];
  await using opened = await openMemoryAgent({ prompts }, { config: asking, files });
  await send(opened, "go");
  await until(() => statusOf(opened) === "waiting_for_confirmation");
  await opened.conversation.accept();
  await until(() => logLines(opened).includes("agent: Once."));
  expect(written).toEqual({ "/work/a.txt": "new" });
  await until(() => statusOf(opened) === "waiting_for_confirmation");
  expect(logLines(opened).filter((line) => line.startsWith("action"))).toHaveLength(2);
});

test("an interrupt cancels the prompt, keeps what was said once, and ends open calls and questions", async () => {
  await using opened = await openMemoryAgent(
    {
      prompts: [
        [{ say: "I ask." }, { ask: remove }],
        [{ say: "Half" }, { hang: "until cancelled" }],
      ],
    },
    { config: asking },
  );
  const { conversation } = opened;
  await send(opened, "go");
  await until(() => statusOf(opened) === "waiting_for_confirmation");
  await conversation.halts.interrupt();
  await until(() => !conversation.isBusy);
  expect(logLines(opened).slice(-6)).toEqual([
    "is waiting_for_confirmation",
    "AgentErrorEvent c1",
    "is paused",
    "InterruptEvent",
    "call c1 failed",
    "prompt ended cancelled",
  ]);
  await send(opened, "more");
  await until(() => conversation.runner.answerText === "Half");
  await conversation.halts.pause();
  await until(() => !conversation.isBusy);
  expect(logLines(opened).slice(-4)).toEqual([
    "is paused",
    "PauseEvent",
    "agent: Half",
    "prompt ended cancelled",
  ]);
  expect(await opened.run("again")).toBe("finished");
});

test("a program that dies in a prompt ends the run with its last words; the next message starts it again", async () => {
  const agents = startInProcess(
    { prompts: [[{ say: "Well" }, { ask: remove }, { exit: 3 }]] },
    { canLoad: false },
  );
  await using opened = await openMemoryAgent({}, { agents });
  expect(await opened.run("go")).toBe("error");
  expect(logLines(opened).slice(-3)).toEqual([
    "prompt ended ACPPromptError",
    "is error",
    "error ACPPromptError",
  ]);
  const error = storedEvents(opened).at(-1)!.event as unknown as { detail: string };
  expect(error.detail).toContain(
    'The agent "scripted" (acp_command) has ended: The program ended with exit code 3.',
  );
  expect(error.detail).toContain("its last words");
  expect(await opened.run("again")).toBe("finished");
  expect(logLines(opened)).toContain("warning acp_session_lost");
  expect(opened.agents.specs).toHaveLength(2);
});

test.each([
  ["hangs", "ACPInitError", "did not answer within 0.1 s (acp_startup_timeout)"],
  ["exits", "ACPSpawnError", "exit code 3"],
  ["login", "ACPAuthRequired", "An API key"],
  ["refuses sessions", "ACPInitError", "no room"],
  ["old protocol", "ACPInitError", "version 0 of the protocol"],
] as const)(
  "an agent that %s ends the run with %s, and its message is still to be read",
  async (trouble, code, words) => {
    const agents = startInProcess({ trouble }, {});
    const acp = trouble === "hangs" ? { acp_startup_timeout: 0.1 } : {};
    await using opened = await openMemoryAgent({}, { agents, acp });
    expect(await opened.run("go")).toBe("error");
    const error = storedEvents(opened).at(-1)!.event as unknown as { code: string; detail: string };
    expect(error.code).toBe(code);
    expect(error.detail).toContain(words);
    expect(error.detail).toContain("acp_command");
    await opened.conversation.configuration.change({});
    expect(await opened.run("again")).toBe("finished");
    expect(opened.agents.calls.at(-1)!.params).toEqual([
      { type: "text", text: "go" },
      { type: "text", text: "again" },
    ]);
  },
);

test("steps of the agent count: at the limit its prompt is cancelled", async () => {
  const step = (id: string) => ({
    update: {
      sessionUpdate: "tool_call" as const,
      toolCallId: id,
      title: id,
      status: "in_progress" as const,
    },
  });
  await using opened = await openMemoryAgent(
    { prompts: [[step("a"), step("b"), step("c"), { hang: "until cancelled" }]] },
    { config: { max_iterations: 2 } },
  );
  expect(await opened.run("go")).toBe("error");
  expect(logLines(opened)).toContain("error MaxIterationsReached");
  expect(methods(opened)).toContain("session/cancel");
});

test("an agent that says nothing for too long is cancelled, but not while it waits for a person", async () => {
  await using opened = await openMemoryAgent(
    { prompts: [[{ hang: "until cancelled" }]] },
    { acp: { acp_prompt_timeout: 0.05 } },
  );
  expect(await opened.run("go")).toBe("error");
  expect(logLines(opened).slice(-3)).toEqual([
    "prompt ended cancelled",
    "is error",
    "error ACPPromptTimeout",
  ]);
});

test("the agent reads and writes through us below the folder, recorded before it is done, and rules hold", async () => {
  const written = new Map<string, string>([["/work/a.txt", "one\ntwo"]]);
  const files = {
    readFile: async (path: string) => {
      const text = written.get(path);
      if (text === undefined) throw new Error("There is no such file.");
      const { Readable } = await import("node:stream");
      return {
        stat: { type: "file" as const, sizeBytes: text.length, modifiedAtMs: 0 },
        content: Readable.from([Buffer.from(text)]),
      };
    },
    writeFile: async (path: string, content: AsyncIterable<Uint8Array>) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of content) chunks.push(chunk);
      written.set(path, Buffer.concat(chunks).toString("utf8"));
    },
  };
  const rule = { tool: "file_editor", path: "/work/kept/**", effect: "deny" as const };
  await using opened = await openMemoryAgent(
    {
      prompts: [
        [{ read: "/work/a.txt" }, { write: { path: "/work/b.txt", content: "new" } }],
        [{ write: { path: "/work/kept/c.txt", content: "no" } }],
      ],
    },
    { files, config: { allow_rules: [rule] } },
  );
  expect(await opened.run("go")).toBe("finished");
  expect(written.get("/work/b.txt")).toBe("new");
  expect(callsIn(opened).map(({ title, status }) => `${title} ${status}`)).toEqual([
    "Read /work/a.txt in_progress",
    "Read /work/a.txt completed",
    "Write /work/b.txt in_progress",
    "Write /work/b.txt completed",
  ]);
  expect(await opened.run("and")).toBe("error");
  expect(written.has("/work/kept/c.txt")).toBe(false);
  expect(callsIn(opened).at(-1)).toMatchObject({ status: "failed" });
});

test("another model is chosen in the way that the agent has for it, and kept for later sessions", async () => {
  for (const modelsBy of ["option", "set_model"] as const) {
    await using opened = await openMemoryAgent({ models: ["a", "b"], modelsBy });
    const { conversation } = opened;
    await conversation.switchAcpModel("b");
    expect(conversation.state.acp.session).toMatchObject({
      current_model_id: "b",
      available_models: [{ model_id: "a", name: "A" }, { model_id: "b" }],
      supports_runtime_model_switch: true,
    });
    expect(conversation.configuration.config.agent.acp).toMatchObject({ acp_model: "b" });
    await expect(conversation.switchAcpModel("c")).rejects.toMatchObject({
      code: "acp_model_refused",
      kind: "unusable",
    });
    expect(await opened.run("go")).toBe("finished");
    expect(methods(opened).filter((method) => method === "session/new")).toHaveLength(1);
  }
  await using none = await openMemoryAgent({});
  await expect(none.conversation.switchAcpModel("b")).rejects.toMatchObject({ code: "acp_model_refused" });
});

test("what needs a history or a model of ours is refused by name", async () => {
  await using opened = await openMemoryAgent({});
  const { conversation } = opened;
  const refused = { code: "not_with_acp", kind: "conflict" };
  await expect(conversation.condense()).rejects.toMatchObject(refused);
  await expect(conversation.navigate(null)).rejects.toMatchObject(refused);
  await expect(conversation.ask("?", new AbortController().signal)).rejects.toMatchObject(refused);
});
