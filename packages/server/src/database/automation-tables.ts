import type { Fixed } from "./fixed.ts";

/** Automations, their runs and what starts them. */
export type AutomationTables = {
  /** Work that starts by itself. */
  automations: {
    /** A UUIDv7. */
    readonly id: Fixed<string>;
    readonly owner_id: Fixed<string>;
    /** Grows by one with each change of its owner. */
    readonly version: number;
    /** Of its trigger: `cron`, `interval`, `once`, `webhook` or `event`. */
    readonly kind: string;
    readonly is_paused: number;
    /** Null while it is paused, and where there is no further due time. */
    readonly next_due_at: number | null;
    /** JSON object: `AutomationPlan`. */
    readonly document: string;
    readonly sealed_hook_secret: string | null;
    readonly created_at: Fixed<number>;
    readonly updated_at: number;
  };
  /** One due time or delivery, or several skipped due times. */
  automation_runs: {
    /** A UUIDv7. */
    readonly id: Fixed<string>;
    readonly automation_id: Fixed<string>;
    /** Unique for its automation: no due time has two rows. */
    readonly due_key: Fixed<string>;
    readonly origin: Fixed<string>;
    readonly state: string;
    readonly reason: string | null;
    readonly due_at: Fixed<number>;
    readonly last_due_at: Fixed<number | null>;
    readonly count: Fixed<number>;
    readonly conversation_id: Fixed<string | null>;
    /** JSON object. */
    readonly payload: Fixed<string | null>;
    /** The node that creates the conversation. */
    readonly node_id: string | null;
    readonly attempts: number;
    readonly created_at: Fixed<number>;
    readonly started_at: number | null;
    readonly ended_at: number | null;
  };
  /** A delivery of a webhook under one of its keys. */
  automation_deliveries: {
    readonly automation_id: Fixed<string>;
    readonly key: Fixed<string>;
    /** The key of its run among those of webhooks; the same for all keys of a delivery. */
    readonly occurrence: Fixed<string>;
    /** Null until the run is recorded. */
    readonly run_id: string | null;
    readonly seen_at: Fixed<number>;
  };
  /** Until when the events of conversations were looked through. */
  automation_cursors: { readonly id: Fixed<string>; readonly at_ms: number };
};
