import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { openMemoryConversation } from "../testing/memory-conversation.ts";
import { startTestServer } from "../testing/start-server.ts";
import { toolTimeoutMs } from "./lazy-session.ts";
import { createScriptedModel } from "../testing/scripted-model/in-process-model.ts";

const message = (text: string) => ({
  role: "user" as const,
  content: [{ type: "text" as const, text, cache_prompt: false }],
  thinking_blocks: [],
});

test("P65: a message is stored while its workspace is unavailable; the run says so, and goes on when it is back", async () => {
  await using server = await startTestServer({ script: { turns: [{ text: "Hello." }] } });
  const directory = join(server.workspaceDir, "project");
  const workspace = { kind: "LocalWorkspace", working_dir: directory } as const;
  const { id } = await server.createConversation({ workspace });
  await rm(directory, { recursive: true });
  await writeFile(directory, "no directory");
  await server.client.sendMessage(id, { content: [{ type: "text", text: "hi" }], run: true });
  await server.waitForStatus(id, "error");
  const trouble = await server.events(id);
  expect(trouble.map(({ kind }) => kind)).toContain("MessageEvent");
  expect(trouble.findLast(({ kind }) => kind === "ConversationErrorEvent")).toMatchObject({
    code: "workspace_unavailable",
  });
  await rename(directory, `${directory}.txt`);
  await server.client.run(id);
  await server.waitForStatus(id, "finished");
  const log = await server.events(id);
  expect(log.filter(({ kind }) => kind === "SystemPromptEvent")).toHaveLength(1);
  const [request] = server.model.requests.map(({ body }) => body as { messages: { role: string }[] });
  expect(request!.messages.map(({ role }) => role)).toEqual(["system", "user"]);
});

test("P65: a message does not wait for tools that take their time, and the run begins when they are there", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const ready = Promise.withResolvers<void>();
  const model = createScriptedModel({ turns: [{ text: "Both read." }] });
  try {
    await using memory = await openMemoryConversation({
      model,
      openSession: async (session) => {
        await ready.promise;
        return session;
      },
    });
    const { conversation, log } = memory;
    for (const text of ["one", "two"]) {
      const sent = conversation.send({ message: message(text), wantsRun: true });
      await vi.advanceTimersByTimeAsync(toolTimeoutMs);
      await sent;
    }
    const kinds = log.events.map(({ json }) => (JSON.parse(json) as { kind: string }).kind);
    const { status } = conversation.state;
    ready.resolve();
    expect(kinds.filter((kind) => kind === "MessageEvent")).toHaveLength(2);
    expect(status).toBe("running");
    while (conversation.isBusy) await new Promise((resolve) => setImmediate(resolve));
    expect(conversation.state.status).toBe("finished");
    expect(model.requests.map(({ messages }) => messages.map(({ role }) => role))).toEqual([
      ["system", "user", "user"],
    ]);
  } finally {
    vi.useRealTimers();
  }
});

test("F4, P6: a call that had begun when the machine went down has an unknown outcome, and the run resumes by itself", async () => {
  const model = createScriptedModel({
    turns: [
      { tool_calls: [{ name: "terminal", arguments: { command: "make" } }] },
      { text: "I looked what it did." },
    ],
  });
  const never = new Promise<never>(() => {});
  // The machine is gone: nothing of this conversation happens any more.
  const before = await openMemoryConversation({
    model,
    openSession: async (session) => ({ ...session, execute: () => never }),
  });
  const message = { role: "user" as const, content: [], thinking_blocks: [] };
  await before.conversation.send({ message, wantsRun: true });
  await expect.poll(() => before.conversation.state.openActions).toHaveLength(1);
  let isSandboxThere = false;
  await using after = await openMemoryConversation({
    model,
    log: before.log,
    openSession: async (session) => {
      if (isSandboxThere) return session;
      isSandboxThere = model.requests.length > 1;
      throw new Error("the sandbox ended");
    },
  });
  await after.conversation.resume();
  while (after.conversation.isBusy) await new Promise((resolve) => setImmediate(resolve));
  const events = after.log.events.map(({ json }) => JSON.parse(json) as { kind: string; error?: string });
  expect(events.filter(({ kind }) => kind === "AgentErrorEvent").map(({ error }) => error)).toEqual([
    expect.stringMatching(/its outcome is unknown. It was not run again/),
  ]);
});
