import type { Event } from "@convoke/protocol";
import { createValidator } from "@convoke/protocol/validate";
import { defaultTools, facesOf, listTool, type ToolListing, type ToolSession } from "@convoke/tool-host";
import type { StoredAgent } from "../agent/acp-options.ts";
import { Conversation } from "../engine/conversation.ts";
import type { ConversationConfig } from "../engine/conversation-config.ts";
import type { ToolBelt } from "../engine/tool-belt.ts";
import { ViewCache } from "../engine/view-cache.ts";
import { noBoundSecrets, noBudget, nobody, noRules } from "../engine/ports.ts";
import { Signals } from "../engine/signals.ts";
import { ConversationLog } from "../engine/conversation-log.ts";
import type { EventMeta } from "../events/event-draft.ts";
import { sampleConversation } from "../journal/sample-events.ts";
import { silentLogger } from "../lib/logger.ts";
import { noActivity } from "../lib/watchdog.ts";
import { Observer } from "../observability/observer.ts";
import type { Model } from "../models/model.ts";
import { createSecretBox } from "../security/seal.ts";
import { hostBelt } from "./host-belt.ts";
import { MemoryLog, openMemoryJournal } from "./interleaving/memory-journal.ts";

export type MemoryConversationOptions = {
  readonly model: Model;
  /** Options; the default agent has terminal and finish, and a model that the catalogue lacks. */
  readonly agent?: Partial<StoredAgent>;
  /** Changes of the configuration. */
  readonly config?: Partial<ConversationConfig>;
  /** How its tools are opened; immediately unless given. */
  readonly openSession?: (session: ToolSession) => Promise<ToolSession>;
  /** Instead of the tools of `openSession`. */
  readonly openBelt?: () => ToolBelt;
  /** The answer of `terminal`; its command unless given. */
  readonly output?: (command: string) => string;
  /** State of an earlier process that this one takes over. */
  readonly log?: MemoryLog;
};

export type MemoryConversation = AsyncDisposable & {
  readonly conversation: Conversation;
  readonly log: MemoryLog;
  /** Sends a message that runs; resolves with the status when the run has ended. */
  run(text: string): Promise<string>;
};

/** A conversation with disk and tools in memory, to measure our own work. */
export async function openMemoryConversation(
  options: MemoryConversationOptions,
): Promise<MemoryConversation> {
  const log = options.log ?? new MemoryLog(sampleConversation("c"));
  const journal = openMemoryJournal(log, async (write) => write());
  let nowMs = 1_700_000_000_000;
  const tick = (): number => (nowMs += 1);
  const session = createSession(options.output ?? ((command) => command));
  const conversation = new Conversation({
    id: "c",
    title: null,
    journal,
    signals: new Signals(),
    log: await ConversationLog.open({ journal, lease: log.claim(), clock: { nowMs: tick } }, log.row),
    config: {
      agent: {
        kind: "Agent",
        llm: { model: "windowed" },
        tools: [{ name: "terminal" }],
        ...options.agent,
      },
      workspace: { kind: "LocalWorkspace", working_dir: "/" },
      confirmation_policy: { kind: "NeverConfirm" },
      security_analyzer: null,
      max_iterations: 100_000,
      stuck_detection: true,
      tags: {},
      ...options.config,
    },
    secrets: { llm: {}, sources: {} },
    boundSecrets: noBoundSecrets,
    secretBox: createSecretBox(Buffer.alloc(32)),
    validator: createValidator(),
    viewCache: new ViewCache({ one: 0, all: 0 }),
    models: { open: () => options.model, findStored: async () => null },
    tools: {
      openSession: async () =>
        options.openBelt?.() ?? hostBelt((await options.openSession?.(session)) ?? session),
      openHooks: () => null,
      workspaceDir: () => "/",
    },
    people: nobody,
    budget: noBudget,
    rules: noRules,
    holder: { lost: () => {} },
    isAttended: false,
    fetch,
    clock: { nowMs: tick },
    logger: silentLogger,
    observer: new Observer(),
    activity: noActivity,
  });
  return {
    conversation,
    log,
    run: async (text) => {
      const content = [{ type: "text" as const, text, cache_prompt: false }];
      await conversation.send({ message: { role: "user", content, thinking_blocks: [] }, wantsRun: true });
      while (conversation.isBusy) await new Promise((resolve) => setImmediate(resolve));
      return conversation.state.status;
    },
    [Symbol.asyncDispose]: () => conversation[Symbol.asyncDispose](),
  };
}

function createSession(output: (command: string) => string): ToolSession {
  const context = {
    sessionId: "c",
    workspaceDir: "/",
    stateDir: "/",
    environment: {},
    params: {},
    canSee: false,
  };
  const tools: ToolListing[] = defaultTools()
    .filter(({ name }) => name === "terminal" || name === "finish")
    .flatMap((tool) => facesOf(tool).map((face) => listTool(face, context)));
  return {
    tools,
    execute: async ({ action }) => {
      const text = action.kind === "TerminalAction" ? output(action.command) : "done";
      const content = [{ type: "text" as const, text, cache_prompt: false }];
      return {
        type: "observation",
        observation: { kind: "ThinkObservation", content, is_error: false },
      };
    },
    state: async () => ({ type: "unknown" }),
    cancel: async () => {},
    terminals: async () => [],
    attach: async function* () {},
    attachBrowser: async function* () {},
    [Symbol.asyncDispose]: async () => {},
  };
}

/** Its log, parsed; `meta` is empty for an event without. */
export function storedEvents({ log }: MemoryConversation) {
  return log.events.map(({ seq, json, meta }) => ({
    seq,
    event: JSON.parse(json) as Event,
    meta: meta === null ? {} : (JSON.parse(meta) as EventMeta),
  }));
}
