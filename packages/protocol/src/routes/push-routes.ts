import { Type, type Static } from "typebox";
import { ErrorReply } from "../requests/replies.ts";
import { list, object, orNull, ref } from "../schema.ts";
import { invalid } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

/** Notifications for a browser: a pending action, a finished run, a failed run. */
export const PushKind = Type.Union([Type.Literal("asks"), Type.Literal("done"), Type.Literal("failed")]);
export type PushKind = Static<typeof PushKind>;

export const PushStatus = object("PushStatus", {
  is_on: Type.Boolean(),
  /** The key for subscriptions (VAPID, RFC 8292): an uncompressed P-256 point in base64url; null while push is off. */
  public_key: orNull(Type.String()),
});
export type PushStatus = Static<typeof PushStatus>;

/** A browser that gets notifications of the caller's conversations. Its endpoint and keys stay hidden. */
export const PushSubscriptionInfo = object("PushSubscriptionInfo", {
  id: Type.String(),
  /** The host of the push service. */
  service: Type.String(),
  kinds: list(PushKind),
  created_at: Type.String({ format: "date-time" }),
});
export type PushSubscriptionInfo = Static<typeof PushSubscriptionInfo>;

export const PushSubscriptionList = object("PushSubscriptionList", {
  subscriptions: list(ref(PushSubscriptionInfo)),
});
export type PushSubscriptionList = Static<typeof PushSubscriptionList>;

/** A browser's `PushSubscription` as JSON, and the notifications that it wants. */
export const SubscribePushRequest = object("SubscribePushRequest", {
  endpoint: Type.String({ minLength: 1, maxLength: 2_048 }),
  keys: Type.Object({
    /** The browser's public key, in base64url. */
    p256dh: Type.String({ maxLength: 200 }),
    /** Its authentication secret, in base64url. */
    auth: Type.String({ maxLength: 100 }),
  }),
  kinds: Type.Optional(Type.Array(PushKind, { default: ["asks", "done", "failed"], maxItems: 3 })),
});
export type SubscribePushRequest = Static<typeof SubscribePushRequest>;

/** The content of a notification, encrypted for the browser. */
export const PushNews = object("PushNews", {
  conversation_id: Type.String({ format: "uuid" }),
  kind: PushKind,
});
export type PushNews = Static<typeof PushNews>;

const isOff = {
  409: { description: "Web push is switched off.", schema: ErrorReply },
} as const;

/** Our own: notifications for browsers while no page is open. */
export const pushRoutes = routesOf("Push", {
  getPush: {
    method: "GET",
    path: "/api/push",
    summary: "Whether browsers are told while no page is open, and the key to subscribe with",
    auth: true,
    responses: ok("Whether it is on.", PushStatus),
  },
  listPushSubscriptions: {
    method: "GET",
    path: "/api/push/subscriptions",
    summary: "The browsers that are told of the caller's conversations",
    auth: true,
    responses: ok("The subscriptions, the oldest first.", PushSubscriptionList),
  },
  subscribePush: {
    method: "POST",
    path: "/api/push/subscriptions",
    summary: "Tell a browser from now on; the same endpoint again changes what it is told of",
    auth: true,
    body: SubscribePushRequest,
    responses: {
      201: { description: "The subscription.", schema: PushSubscriptionInfo },
      ...isOff,
      ...invalid,
    },
  },
  unsubscribePush: {
    method: "DELETE",
    path: "/api/push/subscriptions/{subscription_id}",
    summary: "Tell a browser no more",
    auth: true,
    params: Type.Object({ subscription_id: Type.String({ pattern: "^[0-9a-f]{1,64}$" }) }),
    responses: {
      204: { description: "It is over." },
      404: { description: "The caller has no such subscription.", schema: ErrorReply },
      ...invalid,
    },
  },
});
