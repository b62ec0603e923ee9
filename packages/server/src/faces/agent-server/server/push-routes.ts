import type { PushSubscriptionInfo, pushRoutes } from "@convoke/protocol";
import type { Handlers } from "../../../http/mount.ts";
import { Fault, invalidField } from "../../../lib/fault.ts";
import { isoOf } from "../../../lib/instant.ts";
import type { Subscription } from "../../../push/subscription-store.ts";
import type { FaceDeps } from "../../face-deps.ts";

/** The handlers of `pushRoutes`. */
export function pushHandlers({ push }: FaceDeps) {
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
      const { endpoint, keys, kinds = ["asks", "done", "failed"] } = body;
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

    async unsubscribePush({ caller, params: { subscription_id: id } }) {
      if ((await push?.subscriptions.remove(caller.userId, id)) !== true) {
        throw new Fault("missing", "push_subscription_not_found", "The caller has no such subscription.");
      }
      return { status: 204, text: "" };
    },
  } satisfies Handlers<typeof pushRoutes>;
}

function toInfo({ id, service, kinds, createdAtMs }: Subscription): PushSubscriptionInfo {
  return { id, service, kinds: [...kinds], created_at: isoOf(createdAtMs) };
}
