import type { ConversationExecutionStatus } from "@convoke/protocol";
import type { Navigation } from "../../agent/branches.ts";
import { noAcp, type AcpState } from "./acp-state.ts";
import type { Goal } from "./pursued-goal.ts";
import type { SeqRange } from "../../events/event-draft.ts";

/** An ActionEvent without an answer. */
export type OpenAction = {
  readonly id: string;
  readonly seq: number;
  readonly toolName: string;
  readonly toolCallId: string;
  /** `awaiting`: needs the user's approval. */
  readonly gate: "approved" | "awaiting";
  /** Present once the reviewer was asked about it: why it did not allow it, empty until it has answered. */
  readonly review?: string;
  /** Epoch milliseconds; present once the call of a client tool was handed to the client, which has to send its result until then. */
  readonly resultDeadlineMs?: number;
  /** The structured answer that it ends a run with. */
  readonly structuredOutput?: Readonly<Record<string, unknown>>;
};

/** A message that no answered model request has included. */
export type QueuedMessage = {
  readonly id: string;
  readonly seq: number;
  /** False for messages of the environment. */
  readonly isFromUser: boolean;
  readonly wantsRun: boolean;
  /** The agent that sent it, where it names itself. */
  readonly sender?: string;
};

/** A message that is delivered when the run has ended. Its id is that of the state update which stores it. */
export type HeldMessage = {
  readonly id: string;
  readonly seq: number;
  readonly wantsRun: boolean;
  readonly sender?: string;
  /** Its beginning, on one line. */
  readonly text: string;
};

/**
 * The state from which a conversation decides: a fold of its log and nothing else. JSON-safe, so that it can be
 * cached.
 */
export type ConversationState = {
  lastSeq: number;
  lastId: string | null;
  lastMicros: number;
  status: ConversationExecutionStatus;
  systemPromptSeq: number | null;
  lastUserMessageId: string | null;
  /** Last message not written by the model. */
  lastMessageSeq: number;
  /** Last tool result that the model has to read; 0 once it has finished. */
  lastResultSeq: number;
  /** The last `seq` included in the last answered request. */
  lastSawSeq: number;
  /** Last message that requested a run; 0 once the model has read it or a client halted the run. */
  runWantedSeq: number;
  openActions: OpenAction[];
  /** Messages queued for the next request, oldest first. */
  queued: QueuedMessage[];
  /** Messages that wait for the end of the run, oldest first. */
  held: HeldMessage[];
  /** Deadline of the pending approvals, in epoch milliseconds; null without approvals or timeout. */
  approvalDeadlineMs: number | null;
  /** Start of the current run, and the number of model answers in it. */
  runStartSeq: number;
  /** Epoch milliseconds. */
  runStartMs: number;
  iterations: number;
  /** Milliseconds that all earlier runs took. */
  workedMs: number;
  /** Snapshot form of the metrics per usage id, as last published. */
  stats: Record<string, unknown>;
  /** The last event with stats. */
  statsSeq: number;
  /** True if the last run belongs to an attended process. */
  isAttended: boolean;
  /** True if clients were told of a retry of a model call. */
  isRetryShown: boolean;
  /** Time of the retry; null if none is pending. */
  retryUntil: string | null;
  /** The beginning of the newest message, on one line; empty before the first. */
  lastText: string;
  /** Progress of the newest task list; null before there is one. */
  plan: { readonly done: number; readonly total: number; readonly current: string | null } | null;
  /** The last goal that was set. */
  goal: Goal | null;
  /** The start of the model's view: these events, and everything after a condensation. */
  viewStart: { readonly kept: readonly SeqRange[]; readonly fromSeq: number };
  /** Navigations, oldest first. */
  navigations: readonly Navigation[];
  /** Skills that the model has loaded, each once. */
  invokedSkills: readonly string[];
  /** Keys of provider refusals that were reported, each once. */
  toldAdjustments: readonly string[];
  /** True if the model has requested the on-demand browser tools. */
  hasAskedForBrowser: boolean;
  /** Unused request fields that were reported. */
  unusedFields: readonly string[];
  /** The JSON Schema of the last message that has one, until a run has finished; null for none. */
  responseSchema: Readonly<Record<string, unknown>> | null;
  /** Answers that were refused since the last message, because they are not valid by the schema of answers. */
  refusedAnswers: number;
  /** The agent's last answer as JSON; null without a schema, or where the answer is not valid by it. */
  structuredOutput: Readonly<Record<string, unknown>> | null;
  /** Of a conversation whose agent is another program. */
  acp: AcpState;
  /** The last event with a checkpoint. */
  checkpointSeq: number;
  /** The last event of the branch, without state updates and notices; null at the beginning. */
  leafId: string | null;
};

/** The part of the state that belongs to a branch. */
export const branchFields = [
  "systemPromptSeq",
  "lastUserMessageId",
  "lastMessageSeq",
  "lastResultSeq",
  "lastSawSeq",
  "openActions",
  "queued",
  "held",
  "leafId",
  "responseSchema",
  "refusedAnswers",
  "structuredOutput",
] as const satisfies readonly (keyof ConversationState)[];

export type BranchHead = Pick<ConversationState, (typeof branchFields)[number]>;

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
    held: [],
    approvalDeadlineMs: null,
    runStartSeq: 0,
    runStartMs: 0,
    iterations: 0,
    workedMs: 0,
    stats: {},
    statsSeq: 0,
    viewStart: { kept: [], fromSeq: 1 },
    navigations: [],
    invokedSkills: [],
    toldAdjustments: [],
    hasAskedForBrowser: false,
    unusedFields: [],
    responseSchema: null,
    refusedAnswers: 0,
    structuredOutput: null,
    acp: noAcp,
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

/** True if the model has not yet read something in the log, or another agent is at work. */
export function hasUnseenInput(state: ConversationState): boolean {
  return state.acp.isPrompting || Math.max(state.lastMessageSeq, state.lastResultSeq) > state.lastSawSeq;
}
