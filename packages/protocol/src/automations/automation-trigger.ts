import { Type, type Static } from "typebox";
import { choice, closedObject, list, orAbsent, unionByKind } from "../schema.ts";

/** The shortest interval between two due times, also of cron expressions. */
export const minIntervalSeconds = 60;

/** A local time that does not exist on a day starts after the gap, and one that occurs twice starts once. */
export const CronTrigger = closedObject("CronTrigger", {
  kind: Type.Literal("cron"),
  expression: Type.String({
    minLength: 1,
    maxLength: 200,
    description: "Five fields: minute, hour, day of month, month, day of week; e.g. `0 9 * * MON-FRI`.",
  }),
  time_zone: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      default: "UTC",
      description: "IANA name, e.g. `Europe/Berlin`.",
    }),
  ),
});
export type CronTrigger = Static<typeof CronTrigger>;

export const IntervalTrigger = closedObject("IntervalTrigger", {
  kind: Type.Literal("interval"),
  every_seconds: Type.Integer({ minimum: minIntervalSeconds, maximum: 31_536_000 }),
  starts_at: orAbsent(Type.String({ format: "date-time" }), {
    description:
      "The first due time; the others are whole intervals after it. Without it: one interval from now.",
  }),
});
export type IntervalTrigger = Static<typeof IntervalTrigger>;

export const OnceTrigger = closedObject("OnceTrigger", {
  kind: Type.Literal("once"),
  at: Type.String({ format: "date-time" }),
});
export type OnceTrigger = Static<typeof OnceTrigger>;

export const WebhookForm = choice(["github", "gitlab", "hmac"], {
  description: "How a request proves that it knows the secret.",
});
export type WebhookForm = Static<typeof WebhookForm>;

/** A signed request to `POST /api/automations/{automation_id}/hook`. */
export const WebhookTrigger = closedObject("WebhookTrigger", {
  kind: Type.Literal("webhook"),
  form: WebhookForm,
  events: list(Type.String({ minLength: 1, maxLength: 100 }), {
    maxItems: 50,
    description: "Names of events that start it, e.g. `pull_request`; all when empty.",
  }),
  signature_header: orAbsent(Type.String({ pattern: "^[A-Za-z0-9-]{1,100}$" }), {
    description: "With the form `hmac`: the header with the signature; `X-Signature-256` unless given.",
  }),
});
export type WebhookTrigger = Static<typeof WebhookTrigger>;

/** Another conversation of the owner comes to rest. Conversations that automations started count only by `automation_id`. */
export const EventTrigger = closedObject("EventTrigger", {
  kind: Type.Literal("event"),
  statuses: Type.Array(choice(["finished", "error", "stuck", "waiting_for_confirmation"]), {
    minItems: 1,
    maxItems: 4,
    description: "The statuses that start it.",
  }),
  conversation_id: orAbsent(Type.String({ format: "uuid" }), {
    description: "Only this conversation.",
  }),
  tag: orAbsent(Type.String({ minLength: 1, maxLength: 600 }), {
    description: "Only conversations with this tag, or with this tag and value: `team:search`.",
  }),
  automation_id: orAbsent(Type.String({ format: "uuid" }), {
    description: "Only conversations that this other automation started.",
  }),
});
export type EventTrigger = Static<typeof EventTrigger>;

/** What starts an automation. */
export const AutomationTrigger = unionByKind("AutomationTrigger", {
  cron: CronTrigger,
  interval: IntervalTrigger,
  once: OnceTrigger,
  webhook: WebhookTrigger,
  event: EventTrigger,
});
export type AutomationTrigger = Static<typeof AutomationTrigger>;
