import { Type, type Static } from "typebox";
import { list, object, orNull, ref } from "../schema.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

/** The backlog of one receiver of events; `base_url` is without credentials. */
export const WebhookStatus = object("WebhookStatus", {
  id: Type.String(),
  base_url: Type.String(),
  lag_events: Type.Integer(),
  lag_conversations: Type.Integer(),
  delivered_events: Type.Integer(),
  skipped_events: Type.Integer(),
  failed_attempts: Type.Integer(),
  last_error: orNull(Type.String()),
  next_attempt_at: orNull(Type.String()),
});
export type WebhookStatus = Static<typeof WebhookStatus>;

export const WebhookList = object("WebhookList", { webhooks: list(ref(WebhookStatus)) });
export type WebhookList = Static<typeof WebhookList>;

/** Our own: the reference has no route for the state of its webhooks. */
export const webhookRoutes = routesOf("Webhooks", {
  listWebhooks: {
    method: "GET",
    path: "/api/webhooks",
    summary: "The configured receivers of events and how far each is behind",
    auth: true,
    responses: ok("The receivers.", WebhookList),
  },
});
