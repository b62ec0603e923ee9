import type { ConversationExecutionStatus, MetricsSnapshot, TaskItem } from "@convoke/protocol";
import { noAnswers, type LiveAnswers } from "./live-answer.ts";

/** A call that has no answer yet. */
export type OpenAction = {
  readonly id: string;
  readonly toolName: string;
  readonly toolCallId: string;
  /** It was approved, or needs no approval. */
  readonly isAccepted: boolean;
};

/** A message that is delivered when the run has ended: its id in the queue, and its beginning on one line. */
export type HeldMessage = { readonly event_id: string; readonly text: string };

/** The next try of a model call is waited for, at `until`; null: it goes out at once. */
export type ModelRetry = {
  readonly attempt: number;
  readonly code: string;
  readonly detail: string;
  readonly until: string | null;
};

/**
 * What a screen says about a conversation beside its rows: a fold over its events and signals and nothing else. Nested values
 * are replaced, never changed: what is the same object has not changed.
 */
export type ConversationView = LiveAnswers & {
  readonly status: ConversationExecutionStatus;
  /** `version` of the newest full state; one with a lower version is older and counts for nothing (P36). */
  readonly version: number;
  readonly lastEventId: string | null;
  /** The event up to which a `Standing` frame gave the status: earlier events that arrive later do not change it. */
  readonly standsAt: string | null;
  readonly title: string | null;
  /** Of the agent, such as `openai/gpt-5`; null until it is known. */
  readonly model: string | null;
  /** Whether another agent works in it, by the Agent Client Protocol. */
  readonly isOtherAgent: boolean;
  /** Whether the agent may change nothing but its plan. */
  readonly isPlanning: boolean;
  readonly workingDir: string | null;
  /** `kind` of the confirmation policy. */
  readonly policy: string;
  /** Max US dollars for one task; null without a limit. */
  readonly budget: number | null;
  /** The conversation of which this is a sub-agent. */
  readonly parentId: string | null;
  readonly openActions: readonly OpenAction[];
  /** Ids of messages that no answer has been given to, oldest first. */
  readonly queued: readonly string[];
  /** Messages that wait for the end of the run, oldest first. Only a `Standing` frame says so. */
  readonly held?: readonly HeldMessage[] | undefined;
  /** Spending by usage id. */
  readonly stats: Readonly<Record<string, MetricsSnapshot>>;
  readonly retry: ModelRetry | null;
  /** The newest task list; null before there is one. */
  readonly tasks: readonly TaskItem[] | null;
};

export const emptyView: ConversationView = {
  status: "idle",
  version: 0,
  lastEventId: null,
  standsAt: null,
  title: null,
  model: null,
  isOtherAgent: false,
  isPlanning: false,
  workingDir: null,
  policy: "NeverConfirm",
  budget: null,
  parentId: null,
  openActions: [],
  queued: [],
  stats: {},
  retry: null,
  tasks: null,
  ...noAnswers,
};
