import type { LLM, Message } from "@convoke/protocol";
import type { Validator } from "@convoke/protocol/validate";
import type { Journal } from "../journal/journal.ts";
import type { Fetch } from "../lib/filtered-fetch.ts";
import type { Logger } from "../lib/logger.ts";
import type { Model } from "../models/model.ts";
import type { Activity } from "../lib/watchdog.ts";
import type { Observer } from "../observability/observer.ts";
import type { SecretBox } from "../security/seal.ts";
import type { ConversationConfig, ConversationSecrets } from "./conversation-config.ts";
import type { ConversationLog } from "./conversation-log.ts";
import type { KeptViews } from "./kept-views.ts";
import type { HookGate, HookSurroundings } from "./run/hook-gate.ts";
import type { People } from "./ports.ts";
import type { Signals } from "./signals.ts";
import type { SessionContext } from "./session-context.ts";
import type { ToolBelt } from "./tool-belt.ts";

export type ConversationDeps = {
  readonly id: string;
  /** As it was loaded; it has none when absent. */
  readonly title?: string | null;
  readonly journal: Pick<Journal, "getInboxEntry" | "release">;
  readonly log: ConversationLog;
  /** Where the view of the log goes between two runs; it goes away when absent. */
  readonly keptViews?: KeptViews;
  /** To whoever watches the conversation. */
  readonly signals: Signals;
  readonly config: ConversationConfig;
  readonly secrets: ConversationSecrets;
  readonly secretBox: SecretBox;
  readonly validator: Validator;
  readonly openModel: (config: ConversationConfig, secrets: ConversationSecrets) => Model;
  /** Finds a model that the owner has stored; null when there is none of the name. Nobody has stored one when absent. */
  readonly findModel?: (name: string) => Promise<LLM | null>;
  readonly openSession: (config: ConversationConfig, context: SessionContext) => Promise<ToolBelt>;
  readonly people: People;
  /** The hooks that a configuration asks for, if any; a conversation has none when absent. */
  readonly openHooks?: (config: ConversationConfig, surroundings: HookSurroundings) => HookGate | null;
  /** Says which budget is used up, of the conversation or of its owner; null while there is money. Nobody has one when absent. */
  readonly overBudget?: () => Promise<string | null>;
  /** Absolute. */
  readonly workspaceDir: (config: ConversationConfig) => string;
  /** Called once when another process took the conversation over: this object is of no more use. */
  readonly onLost: () => void;
  /** Runs that begin here belong to this process and do not go on by themselves without it. */
  readonly isAttended?: true;
  readonly nowMs: () => number;
  /** For addresses that users choose; Node's own when absent. */
  readonly fetch?: Fetch;
  readonly logger: Logger;
  /** Nobody looks on when absent. */
  readonly observer?: Observer;
  /** Told what is worked on. */
  readonly activity?: Activity;
};

export type SendInput = {
  readonly message: Message;
  readonly wantsRun: boolean;
  /** What the message asks for is judged after each run, and worked on again so often at most. */
  readonly goal?: { readonly objective: string; readonly maxIterations: number };
  readonly sender?: string;
  /** Idempotency key: the same id with the same content is the same message, however often it is sent (P18). */
  readonly clientMessageId?: string;
};
