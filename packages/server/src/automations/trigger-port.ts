import type { AutomationRunOrigin } from "@convoke/protocol";
import type { AutomationRun } from "./automation.ts";

/** What happened outside of the schedules: a delivery of a webhook, an event, a person's order. */
export type Occurrence = {
  readonly origin: Exclude<AutomationRunOrigin, "schedule">;
  /** Names the occurrence among those of its origin, e.g. the id of a delivery: the same one starts one run. */
  readonly key: string;
  /** Data for the prompt; JSON values only. Null: none. */
  readonly payload: Readonly<Record<string, unknown>> | null;
  /** Why it starts nothing: its run is recorded as skipped. Absent: it may start. */
  readonly refusal?: string;
};

export type Triggered = {
  readonly run: AutomationRun;
  /** The occurrence came before: `run` is the one that it started then. */
  readonly isRepeated: boolean;
};

/** Starts runs of automations at occurrences. */
export interface TriggerPort {
  /**
   * Records a run, which may be queued or skipped, and resolves when it is durable; the conversation is created afterwards. Null when the
   * automation is gone. A paused automation starts at manual occurrences only: others are recorded as skipped.
   */
  trigger(automationId: string, occurrence: Occurrence): Promise<Triggered | null>;
}
