import type { Agent } from "@convoke/protocol";
import { createValidator } from "@convoke/protocol/validate";
import { expect, test } from "vitest";
import { sampleConversation } from "../journal/sample-events.ts";
import { JournalWriteError } from "../journal/journal.ts";
import { silentLogger } from "../lib/logger.ts";
import { createSecretBox } from "../security/seal.ts";
import { createGatedModel } from "../testing/interleaving/gated-model.ts";
import { createGatedSession } from "../testing/interleaving/gated-session.ts";
import { Gates } from "../testing/interleaving/gates.ts";
import { MemoryLog, openMemoryJournal } from "../testing/interleaving/memory-journal.ts";
import { until } from "../testing/until.ts";
import { ConversationLog } from "./conversation-log.ts";
import { Conversation } from "./conversation.ts";

/** A conversation whose disk can be filled, between a model and tools that move when told. */
async function open() {
  const disk = { isFull: false };
  const memory = new MemoryLog(sampleConversation("c"));
  const journal = openMemoryJournal(memory, async (write) => {
    if (disk.isFull) throw new JournalWriteError("The disk is full.");
    write();
  });
  const gates = new Gates();
  const started: string[] = [];
  const requests: number[] = [];
  const model = createGatedModel(gates, ({ messages }) => requests.push(messages.length));
  const session = createGatedSession({
    gates,
    disk: new Map(),
    onStart: ({ actionId }) => started.push(actionId),
  });
  const nowMs = Date.now;
  const conversation = new Conversation({
    id: "c",
    journal,
    log: await ConversationLog.open({ journal, lease: memory.claim(), nowMs }, memory.row),
    config: {
      agent: { kind: "Agent", llm: { model: "gated" }, tools: [{ name: "terminal" }] } as unknown as Agent,
      workspace: { kind: "LocalWorkspace", working_dir: "/" },
      confirmation_policy: { kind: "NeverConfirm" },
      security_analyzer: null,
      max_iterations: 100,
      stuck_detection: false,
      tags: {},
    },
    secrets: { llm: {}, sources: {} },
    secretBox: createSecretBox(Buffer.alloc(32)),
    validator: createValidator(),
    openModel: () => model,
    openSession: async () => session,
    workspaceDir: () => "/",
    onLost: () => {},
    nowMs,
    logger: silentLogger,
  });
  /** Ends the oldest thing in progress. */
  const end = async (ending: string): Promise<void> => {
    await until(() => gates.open.length > 0);
    gates.end(gates.open[0]!, ending);
  };
  const message = {
    role: "user" as const,
    content: [{ type: "text" as const, text: "go", cache_prompt: false }],
    thinking_blocks: [],
  };
  await conversation.send({ message, wantsRun: true });
  const kinds = (): string[] => memory.events.map(({ json }) => (JSON.parse(json) as { kind: string }).kind);
  return {
    conversation,
    disk,
    end,
    started,
    requests,
    kinds,
    [Symbol.asyncDispose]: () => conversation[Symbol.asyncDispose](),
  };
}

test.each(["pause", "interrupt", "stop"] as const)(
  "P7, P43: while a run cannot store its result, %s answers at once, holds the work, and is recorded later",
  async (command) => {
    await using world = await open();
    const { conversation, disk, end, started, requests, kinds } = world;
    await end("two");
    await until(() => started.length === 1);
    disk.isFull = true;
    await end("observed");
    // The run waits for the disk now; the mailbox must not.
    await expect(conversation[command]()).rejects.toThrow(JournalWriteError);
    await until(() => !conversation.isBusy || command === "pause");
    disk.isFull = false;
    await until(() => conversation.state.status === "paused" && !conversation.isBusy);
    expect(started).toHaveLength(1);
    expect(requests).toHaveLength(1);
    expect(kinds().filter((kind) => kind === "ObservationEvent")).toHaveLength(command === "pause" ? 1 : 0);
  },
);

test("P7: a result waits for the disk and is stored; the run goes on by itself", async () => {
  await using world = await open();
  const { conversation, disk, end, kinds } = world;
  await end("one");
  await until(() => world.started.length === 1);
  disk.isFull = true;
  await end("observed");
  await expect(conversation.setTitle("new")).rejects.toThrow(JournalWriteError);
  disk.isFull = false;
  await end("text");
  await until(() => conversation.state.status === "finished");
  expect(kinds().filter((kind) => kind === "ObservationEvent")).toHaveLength(1);
});
