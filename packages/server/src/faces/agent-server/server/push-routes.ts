import type { PushSubscriptionInfo, SubscribePushRequest } from "@convoke/protocol";
import type { RouteHandler } from "../../../http/mount.ts";
import { Fault, invalidField } from "../../../lib/fault.ts";
import type { PushServices } from "../../../push/push-services.ts";
import type { PushTarget, Subscription, SubscriptionStore } from "../../../push/subscription-store.ts";

export type PushRouteDeps = {
  /** Null while web push is off. */
  readonly push: {
    /** In base64url. */
    readonly publicKey: string;
    readonly services: PushServices;
    /** False for malformed keys. */
    readonly canSeal: (target: PushTarget) => boolean;
    readonly subscriptions: SubscriptionStore;
  } | null;
};

/** The handlers of `pushRoutes`. */
export function pushHandlers({ push }: PushRouteDeps) {
  return {
    getPush: () => ({ json: { is_on: push !== null, public_key: push?.publicKey ?? null } }),

    async listPushSubscriptions({ caller }) {
      const found = (await push?.subscriptions.list(caller.userId)) ?? [];
      return { json: { subscriptions: found.map(toInfo) } };
    },

    async subscribePush({ body, caller }) {
      if (push === null) {
        throw new Fault(
          "conflict",
          "push_off",
          "Web push is off here. Whoever runs the server switches it on with CONVOKE_WEB_PUSH=on.",
        );
      }
      const { endpoint, keys, kinds = ["asks", "done", "failed"] } = body as SubscribePushRequest;
      if (!URL.canParse(endpoint) || !push.services(new URL(endpoint))) {
        throw invalidField(
          ["body", "endpoint"],
          "This is the address of no push service that the server calls. CONVOKE_WEB_PUSH_SERVICES names them.",
        );
      }
      const target = { endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth } };
      if (!push.canSeal(target)) {
        throw invalidField(
          ["body", "keys"],
          "These are no keys of a browser: p256dh is a point of P-256 (65 bytes) and auth has 16 bytes, both in base64url.",
        );
      }
      const added = await push.subscriptions.add(caller, target, kinds);
      return { status: 201, json: toInfo(added) };
    },

    async unsubscribePush({ caller, params }) {
      const id = params["subscription_id"]!;
      if ((await push?.subscriptions.remove(caller.userId, id)) !== true) {
        throw new Fault("missing", "push_subscription_not_found", "The caller has no such subscription.");
      }
      return { status: 204, text: "" };
    },
  } satisfies Record<string, RouteHandler>;
}

function toInfo({ id, service, kinds, createdAtMs }: Subscription): PushSubscriptionInfo {
  return { id, service, kinds: [...kinds], created_at: new Date(createdAtMs).toISOString() };
}
