import type { ConversationExecutionStatus } from "@convoke/protocol";
import type { Navigation } from "../../agent/branches.ts";
import type { Goal } from "./pursued-goal.ts";
import type { SeqRange } from "../../events/event-draft.ts";

/** An ActionEvent that has no answer yet. */
export type OpenAction = {
  readonly id: string;
  readonly seq: number;
  readonly toolName: string;
  readonly toolCallId: string;
  /** `awaiting`: only the user may let it start. */
  readonly gate: "approved" | "awaiting";
};

/** A message that no answered request had seen. */
export type QueuedMessage = {
  readonly id: string;
  readonly seq: number;
  /** False for messages of the scaffold. */
  readonly isFromUser: boolean;
  readonly wantsRun: boolean;
};

/** Everything the conversation decides with: a fold over its log and nothing else. JSON-safe, so that it can be cached. */
export type ConversationState = {
  lastSeq: number;
  lastId: string | null;
  lastMicros: number;
  status: ConversationExecutionStatus;
  systemPromptSeq: number | null;
  lastUserMessageId: string | null;
  /** Last message that somebody other than the model wrote. */
  lastMessageSeq: number;
  /** Last result of a tool call that the model has to read; 0 once it has finished. */
  lastResultSeq: number;
  /** What the last answered request had seen. */
  lastSawSeq: number;
  /** Last message whose sender asked for a run; 0 once the model has seen it or a client took the run away. */
  runWantedSeq: number;
  openActions: OpenAction[];
  /** Messages that wait for the next request, oldest first. */
  queued: QueuedMessage[];
  /** Epoch milliseconds after which the configured answer counts for what waits; null when nothing does or there is none. */
  approvalDeadlineMs: number | null;
  /** Where the current run began, and how many answers the model gave in it. */
  runStartSeq: number;
  iterations: number;
  /** Snapshot form of the metrics per usage id, as last published. */
  stats: Record<string, unknown>;
  /** The last event with stats. */
  statsSeq: number;
  /** The last run belongs to a process that is there for it alone. */
  isAttended: boolean;
  /** Clients were notified that a model call will be retried. */
  isRetryShown: boolean;
  /** When it will be, as it is shown; null where nothing is waited for. */
  retryUntil: string | null;
  /** The beginning of the newest message, on one line; empty before the first. */
  lastText: string;
  /** How far the newest task list is; null before there is one. */
  plan: { readonly done: number; readonly total: number; readonly current: string | null } | null;
  /** The last goal that was set. */
  goal: Goal | null;
  /** Where the model's view begins: these events, and everything from a condensation on. */
  viewStart: { readonly kept: readonly SeqRange[]; readonly fromSeq: number };
  /** Where the log left its line, oldest first. */
  navigations: readonly Navigation[];
  /** Skills that the model has loaded by name, each once. */
  invokedSkills: readonly string[];
  /** Keys of the provider's refusals that were reported to clients, each once. */
  toldAdjustments: readonly string[];
  /** The model has asked for the tools of a browser that is there on demand. */
  hasAskedForBrowser: boolean;
  /** Unused fields of requests that the log has reported. */
  unusedFields: readonly string[];
  /** The last event that has a checkpoint beside it. */
  checkpointSeq: number;
  /** The last event of the branch, state updates and notices apart; null at the beginning. */
  leafId: string | null;
};

/** What belongs to a branch and is another on the next one. */
export type BranchHead = Pick<
  ConversationState,
  | "systemPromptSeq"
  | "lastUserMessageId"
  | "lastMessageSeq"
  | "lastResultSeq"
  | "lastSawSeq"
  | "openActions"
  | "queued"
  | "leafId"
>;

export function initialState(): ConversationState {
  return {
    lastSeq: 0,
    lastId: null,
    lastMicros: 0,
    status: "idle",
    systemPromptSeq: null,
    lastUserMessageId: null,
    lastMessageSeq: 0,
    lastResultSeq: 0,
    lastSawSeq: 0,
    runWantedSeq: 0,
    openActions: [],
    queued: [],
    approvalDeadlineMs: null,
    runStartSeq: 0,
    iterations: 0,
    stats: {},
    statsSeq: 0,
    viewStart: { kept: [], fromSeq: 1 },
    navigations: [],
    invokedSkills: [],
    toldAdjustments: [],
    hasAskedForBrowser: false,
    unusedFields: [],
    checkpointSeq: 0,
    leafId: null,
    goal: null,
    isAttended: false,
    isRetryShown: false,
    retryUntil: null,
    lastText: "",
    plan: null,
  };
}

/** True when the model has not yet reacted to something in the log. */
export function hasUnseenInput(state: ConversationState): boolean {
  return Math.max(state.lastMessageSeq, state.lastResultSeq) > state.lastSawSeq;
}
