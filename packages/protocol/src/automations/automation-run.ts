import { Type, type Static } from "typebox";
import { anyObject, choice, closedObject, nullable, object, orAbsent, ref } from "../schema.ts";
import { AutomationTrigger } from "./automation-trigger.ts";

/**
 * `queued`: waits for an earlier run. `claimed`: a node is about to create the conversation. `started`: the conversation exists.
 * The others are final: `finished`, `failed` (it could not start, or its agent failed), `replaced` (interrupted for a later run) and
 * `skipped` (never started).
 */
export const AutomationRunState = choice([
  "queued",
  "claimed",
  "started",
  "finished",
  "failed",
  "replaced",
  "skipped",
]);
export type AutomationRunState = Static<typeof AutomationRunState>;

export const AutomationRunOrigin = choice(["schedule", "manual", "webhook", "event"]);
export type AutomationRunOrigin = Static<typeof AutomationRunOrigin>;

/** One due time of an automation, or several skipped ones. */
export const AutomationRun = object("AutomationRun", {
  id: Type.String({ format: "uuid" }),
  automation_id: Type.String({ format: "uuid" }),
  origin: AutomationRunOrigin,
  state: AutomationRunState,
  reason: nullable(Type.String(), { description: "Why it was skipped, or how it failed." }),
  due_at: Type.String({ format: "date-time" }),
  last_due_at: nullable(Type.String({ format: "date-time" }), {
    description: "Of several skipped due times the last one.",
  }),
  count: Type.Integer({ minimum: 1, description: "How many due times this stands for." }),
  conversation_id: nullable(Type.String({ format: "uuid" })),
  created_at: Type.String({ format: "date-time" }),
  started_at: nullable(Type.String({ format: "date-time" })),
  ended_at: nullable(Type.String({ format: "date-time" })),
});
export type AutomationRun = Static<typeof AutomationRun>;

export const AutomationRunPage = object("AutomationRunPage", {
  items: Type.Array(ref(AutomationRun)),
  next_page_id: nullable(Type.String()),
});
export type AutomationRunPage = Static<typeof AutomationRunPage>;

export const RunAutomationRequest = closedObject("RunAutomationRequest", {
  request_id: orAbsent(Type.String({ minLength: 1, maxLength: 200 }), {
    description: "Makes sending the request again harmless.",
  }),
  payload: orAbsent(anyObject({ description: "Data for `{{payload}}`, where the prompt uses it." })),
});
export type RunAutomationRequest = Static<typeof RunAutomationRequest>;

export const PreviewTriggerRequest = closedObject("PreviewTriggerRequest", {
  trigger: ref(AutomationTrigger),
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })),
});
export type PreviewTriggerRequest = Static<typeof PreviewTriggerRequest>;

export const DueTimes = object("DueTimes", {
  due_times: Type.Array(Type.String({ format: "date-time" }), {
    description: "In UTC, ascending; empty for webhooks and events.",
  }),
});
export type DueTimes = Static<typeof DueTimes>;

/** A delivery of a webhook was accepted. */
export const HookReply = object("HookReply", {
  run_id: nullable(Type.String({ format: "uuid" }), {
    description: "Null when the delivery starts nothing: its event is not one of those that are wanted.",
  }),
  is_repeated: Type.Boolean({ description: "The delivery came before; it started nothing again." }),
  detail: nullable(Type.String(), { description: "Why it starts nothing." }),
});
export type HookReply = Static<typeof HookReply>;

/** The only reply that contains the secret. */
export const RotatedHookSecret = object("RotatedHookSecret", {
  hook_secret: Type.String(),
  previous_until: nullable(Type.String({ format: "date-time" }), {
    description: "Until then the secret of before is accepted too; null when there was none.",
  }),
});
export type RotatedHookSecret = Static<typeof RotatedHookSecret>;
