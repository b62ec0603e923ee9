import type {
  AutomationCatchUp,
  AutomationConversation,
  AutomationOverlap,
  AutomationRunOrigin,
  AutomationRunState,
  AutomationTrigger,
  UnattendedApprovals,
} from "@convoke/protocol";

/** What an owner decides about an automation. */
export type AutomationPlan = {
  readonly name: string;
  /** With every default in it: the due times depend on it alone. */
  readonly trigger: AutomationTrigger;
  readonly prompt: string;
  readonly conversation: AutomationConversation;
  readonly approvals: UnattendedApprovals;
  readonly overlap: AutomationOverlap;
  readonly catchUp: AutomationCatchUp;
};

/** Times are epoch milliseconds. */
export type Automation = AutomationPlan & {
  readonly id: string;
  readonly ownerId: string;
  /** Grows by one with each change of an owner; due times that pass leave it as it is. */
  readonly version: number;
  readonly isPaused: boolean;
  readonly hasHookSecret: boolean;
  readonly nextDueMs: number | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

/** The run of one due time, or several skipped due times. */
export type AutomationRun = {
  /** A UUIDv7: later runs have greater ids. */
  readonly id: string;
  readonly automationId: string;
  /** There is one run for each key of an automation: see {@link dueKeyOf}. */
  readonly dueKey: string;
  readonly origin: AutomationRunOrigin;
  readonly state: AutomationRunState;
  readonly reason: string | null;
  readonly dueAtMs: number;
  readonly lastDueAtMs: number | null;
  readonly count: number;
  /** Chosen before the conversation is created; null for skipped runs. */
  readonly conversationId: string | null;
  /** JSON of the data for the prompt. */
  readonly payload: string | null;
  /** The node that creates the conversation. */
  readonly nodeId: string | null;
  /** How often a node began to create the conversation. */
  readonly attempts: number;
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
};

/** States of runs that still wait or work. */
export const activeStates = ["queued", "claimed", "started"] as const satisfies AutomationRunState[];

/** The key of a due time of a schedule. Keys of other origins begin with their name, e.g. `webhook:`. */
export function dueKeyOf(dueAtMs: number): string {
  return `schedule:${new Date(dueAtMs).toISOString()}`;
}
