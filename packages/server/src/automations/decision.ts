import type { Automation, AutomationPlan, AutomationRun } from "./automation.ts";

/** A run to be stored; the store adds what is missing. */
export type NewRun = Pick<AutomationRun, "dueKey" | "origin" | "dueAtMs"> &
  Partial<Pick<AutomationRun, "reason" | "lastDueAtMs" | "count" | "payload">> & {
    readonly state: "queued" | "claimed" | "skipped";
  };

/** What is stored together: either all of it, or nothing. */
export type Decision = {
  readonly runs: readonly NewRun[];
  /** Ids of active runs that end with the state `replaced`. */
  readonly replaced: readonly string[];
  /** Ids of queued runs that become `claimed`. */
  readonly claimed: readonly string[];
  readonly nextDueMs: number | null;
};

/** What a decision is made of, as if nobody else wrote meanwhile. */
export type DecisionBase = {
  readonly automation: Automation;
  /** The oldest first. */
  readonly active: readonly AutomationRun[];
};

export type Recorded = {
  /** The new runs, and queued ones that were claimed. */
  readonly runs: readonly AutomationRun[];
  /** Runs from before that have the key of a new one. */
  readonly known: readonly AutomationRun[];
};

/** The end of a run, or its next step. */
export type RunChange = Partial<
  Pick<AutomationRun, "state" | "reason" | "nodeId" | "attempts" | "startedAtMs" | "endedAtMs">
>;

/** What an owner changes; what is left out stays. */
export type AutomationChange = Partial<AutomationPlan & Pick<Automation, "isPaused" | "nextDueMs">> & {
  readonly hookSecret?: string | null;
};

export type PageOf = {
  /** Only items with a lower id. */
  readonly beforeId: string | null;
  readonly limit: number;
};

/** Further final runs of an automation are removed, the oldest first. */
export const maxStoredRuns = 1_000;

/** A day, to change the secret at the sender. */
export const previousSecretMs = 24 * 60 * 60 * 1_000;
