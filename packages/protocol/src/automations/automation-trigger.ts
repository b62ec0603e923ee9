import { Type, type Static } from "typebox";
import { choice, closedObject, list, orAbsent, ref, unionByKind } from "../schema.ts";

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

export const WebhookForm = choice(["github", "gitlab", "standard", "hmac"], {
  description:
    "How a request proves that it knows the secret: as GitHub or GitLab do, as the Standard Webhooks specification says, or by an HMAC-SHA-256 in a header of any name.",
});
export type WebhookForm = Static<typeof WebhookForm>;

/** A field of the payload that must have one of some values. */
export const WebhookField = closedObject("WebhookField", {
  path: Type.String({
    minLength: 1,
    maxLength: 200,
    description: "Names and places with dots between them, e.g. `pull_request.draft` or `commits.0.id`.",
  }),
  one_of: Type.Array(
    Type.Union([Type.String({ maxLength: 500 }), Type.Number(), Type.Boolean(), Type.Null()]),
    { minItems: 1, maxItems: 50 },
  ),
});
export type WebhookField = Static<typeof WebhookField>;

const headerName = Type.String({ pattern: "^[A-Za-z0-9-]{1,100}$" });

/** A signed request to `POST /api/automations/{automation_id}/hook`. */
export const WebhookTrigger = closedObject("WebhookTrigger", {
  kind: Type.Literal("webhook"),
  form: WebhookForm,
  events: list(Type.String({ minLength: 1, maxLength: 100 }), {
    maxItems: 50,
    description:
      "Names of events that start it, with or without their action, e.g. `push` or `pull_request.opened`; all when empty.",
  }),
  branches: list(Type.String({ minLength: 1, maxLength: 200 }), {
    maxItems: 50,
    description: "Branches that start it; `*` stands for any characters. All when empty.",
  }),
  fields: list(ref(WebhookField), {
    maxItems: 20,
    description: "Conditions on the payload, all of which must hold.",
  }),
  signature_header: orAbsent(headerName, {
    description: "With the form `hmac`: the header with the signature; `X-Signature-256` unless given.",
  }),
  timestamp_header: orAbsent(headerName, {
    description:
      "With the form `hmac`: the header with the time of sending, in seconds since 1970. Then the timestamp, a dot and the body are signed, and requests that are more than five minutes old are refused.",
  }),
  id_header: orAbsent(headerName, {
    description: "With the form `hmac`: the header with the id of the delivery, the same at each attempt.",
  }),
  event_header: orAbsent(headerName, {
    description: "With the form `hmac`: the header with the name of the event.",
  }),
});
export type WebhookTrigger = Static<typeof WebhookTrigger>;

/** Another conversation of the owner comes to rest, or gets an event. Conversations that automations started count only by `automation_id`. */
export const EventTrigger = closedObject("EventTrigger", {
  kind: Type.Literal("event"),
  statuses: list(choice(["finished", "error", "stuck", "waiting_for_confirmation"]), {
    maxItems: 4,
    description: "The statuses that start it.",
  }),
  event_kinds: list(Type.String({ pattern: "^[A-Za-z]{1,100}$" }), {
    maxItems: 20,
    description:
      "Kinds of events that start it, e.g. `ConversationErrorEvent`. It needs one of these or a status.",
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
