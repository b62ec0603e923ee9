import type { Agent } from "@convoke/protocol";
import { createValidator } from "@convoke/protocol/validate";
import type { ConversationConfig } from "../engine/conversation-config.ts";
import type { EventMeta } from "../events/event-draft.ts";
import { sampleConversation } from "../journal/sample-events.ts";
import { JournalWriteError } from "../journal/journal.ts";
import { systemClock } from "../lib/clock.ts";
import { silentLogger } from "../lib/logger.ts";
import { noActivity } from "../lib/watchdog.ts";
import { Observer } from "../observability/observer.ts";
import { createSecretBox } from "../security/seal.ts";
import { createGatedModel } from "./interleaving/gated-model.ts";
import { hostBelt } from "./host-belt.ts";
import { createGatedSession } from "./interleaving/gated-session.ts";
import { Gates } from "./interleaving/gates.ts";
import { MemoryLog, openMemoryJournal } from "./interleaving/memory-journal.ts";
import { until } from "./until.ts";
import { ConversationLog } from "../engine/conversation-log.ts";
import { Conversation } from "../engine/conversation.ts";
import { ViewCache } from "../engine/view-cache.ts";
import { noBoundSecrets, noBudget, nobody, noRules } from "../engine/ports.ts";
import { Signals } from "../engine/signals.ts";

/** A conversation with a disk that can be filled, and a model and tools that the test steps. */
export async function openGatedConversation(changes: Partial<ConversationConfig> = {}) {
  const disk = { isFull: false, isDamaged: false };
  const memory = new MemoryLog(sampleConversation("c"));
  const journal = openMemoryJournal(memory, async (write) => {
    if (disk.isFull) throw new JournalWriteError("The disk is full.");
    if (disk.isDamaged) throw new JournalWriteError("malformed", { path: "journal.db", errcode: 11 });
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
  const conversation = new Conversation({
    id: "c",
    title: null,
    journal,
    signals: new Signals(),
    log: await ConversationLog.open({ journal, lease: memory.claim(), clock: systemClock }, memory.row),
    config: {
      agent: { kind: "Agent", llm: { model: "gated" }, tools: [{ name: "terminal" }] } as unknown as Agent,
      workspace: { kind: "LocalWorkspace", working_dir: "/" },
      confirmation_policy: { kind: "NeverConfirm" },
      security_analyzer: null,
      max_iterations: 100,
      stuck_detection: false,
      tags: {},
      ...changes,
    },
    secrets: { llm: {}, sources: {} },
    boundSecrets: noBoundSecrets,
    secretBox: createSecretBox(Buffer.alloc(32)),
    validator: createValidator(),
    viewCache: new ViewCache({ one: 0, all: 0 }),
    models: { open: () => model, findStored: async () => null },
    tools: { openSession: async () => hostBelt(session), openHooks: () => null, workspaceDir: () => "/" },
    people: nobody,
    budget: noBudget,
    rules: noRules,
    holder: { lost: () => {} },
    isAttended: false,
    fetch,
    clock: systemClock,
    logger: silentLogger,
    observer: new Observer(),
    activity: noActivity,
  });
  /** Ends the oldest pending thing. */
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
    /** Stored beside each event. */
    metas: () => memory.events.map(({ meta }) => (meta === null ? {} : (JSON.parse(meta) as EventMeta))),
    [Symbol.asyncDispose]: () => conversation[Symbol.asyncDispose](),
  };
}
