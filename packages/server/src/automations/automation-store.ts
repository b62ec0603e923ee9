import type { AutomationRunState, AutomationTrigger } from "@convoke/protocol";
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

export type PageOf = {
  /** Only items with a lower id. */
  readonly beforeId: string | null;
  readonly limit: number;
};

/** Automations and their runs. Nodes that share a store share it; `contract.ts` says what every one does. */
export interface AutomationStore {
  create(
    ownerId: string,
    plan: AutomationPlan,
    state: Pick<Automation, "isPaused" | "nextDueMs">,
    hookSecret: string | null,
  ): Promise<Automation>;
  find(id: string): Promise<Automation | null>;
  count(ownerId: string): Promise<number>;
  /** The newest first. */
  list(ownerId: string, page: PageOf): Promise<readonly Automation[]>;
  /** Those of all users with a trigger of this kind that are not paused. */
  ofKind(kind: AutomationTrigger["kind"]): Promise<readonly Automation[]>;
  /**
   * Replaces the fields that are given; a hook secret of null is removed, and one that takes the place of another leaves that valid for
   * {@link previousSecretMs}. Null when the automation has another version by now, or is gone.
   */
  change(
    id: string,
    version: number,
    change: Partial<AutomationPlan & Pick<Automation, "isPaused" | "nextDueMs">> & {
      readonly hookSecret?: string | null;
    },
  ): Promise<Automation | null>;
  /** With its runs. False when it is gone. */
  delete(id: string): Promise<boolean>;
  /** The valid ones, the newest first; none where they cannot be opened any more. */
  hookSecrets(id: string): Promise<readonly string[]>;

  /** Those with a due time up to `atMs`, the earliest first. */
  due(atMs: number, limit: number): Promise<readonly Automation[]>;
  /** The earliest due time of all. */
  earliestDueMs(): Promise<number | null>;
  /**
   * Calls `decide` with the present state and stores its decision in the same transaction; `decide` may be called again and does nothing
   * else. A run whose key exists is not stored again. Claimed runs are those of `nodeId`. Null when the automation is gone or `decide` gave null.
   */
  record(
    id: string,
    nodeId: string,
    decide: (base: DecisionBase) => Decision | null,
  ): Promise<Recorded | null>;

  findRun(id: string): Promise<AutomationRun | null>;
  /** The run that created this conversation; null: none did. */
  findRunOf(conversationId: string): Promise<AutomationRun | null>;
  /** The newest first. */
  runs(
    automationId: string,
    page: PageOf & { readonly state: AutomationRunState | null },
  ): Promise<readonly AutomationRun[]>;
  /** The newest run of each of these automations, by its automation. */
  lastRuns(automationIds: readonly string[]): Promise<ReadonlyMap<string, AutomationRun>>;
  /** Runs of all automations in this state, by id. */
  runsIn(
    state: AutomationRunState,
    page: { readonly afterId: string | null; readonly limit: number },
  ): Promise<readonly AutomationRun[]>;
  /** Changes a run that is in one of these states; false otherwise. */
  changeRun(id: string, from: readonly AutomationRunState[], change: RunChange): Promise<boolean>;
}

/** Further final runs of an automation are removed, the oldest first. */
export const maxStoredRuns = 1_000;

/** A day, to change the secret at the sender. */
export const previousSecretMs = 24 * 60 * 60 * 1_000;
