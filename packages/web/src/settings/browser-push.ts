import type { ConvokeClient } from "@convoke/client";
import type { PushKind } from "@convoke/protocol";
import { asRecord, textAt } from "@convoke/client/view";
import type { BrowserStorage } from "../lib/browser-storage.ts";
import { ownScript } from "../lib/own-script.ts";

/** Notification texts by kind: the service worker has no page to read translations from. */
export type PushTexts = Readonly<Record<PushKind, string>>;

export type BrowserPushDeps = {
  readonly client: Pick<ConvokeClient, "call">;
  readonly storage: BrowserStorage;
};

const key = "push";
/** Cache that the service worker reads; see `public/push-worker.js`. */
const cacheName = "convoke-push";

/** Push needs HTTPS or localhost; some mobile browsers also require the page to be installed. */
export function isPushSupported(): boolean {
  return isSecureContext && "serviceWorker" in navigator && "PushManager" in window;
}

/** True if this browser is subscribed to push notifications. */
export function isSubscribedToPush(storage: BrowserStorage): boolean {
  return storage.read(key) !== undefined;
}

/** Creates the push subscription and registers it with the server. Calling it again updates the kinds and texts. */
export async function subscribeToPush(
  { client, storage }: BrowserPushDeps,
  kinds: readonly PushKind[],
  words: PushTexts,
): Promise<void> {
  const { public_key: serverKey } = await client.call("GET /api/push");
  if (serverKey == null) return await unsubscribeFromPush({ client, storage });
  await navigator.serviceWorker.register(ownScript("push-worker.js"));
  const { pushManager, scope } = await navigator.serviceWorker.ready;
  const cache = await caches.open(cacheName);
  await cache.put(new URL("push-words", scope), Response.json(words));
  const options = { userVisibleOnly: true, applicationServerKey: serverKey };
  let subscription = await pushManager.getSubscription();
  // A subscription for another server key does not work.
  if (subscription !== null && base64Url(subscription.options.applicationServerKey) !== serverKey) {
    await subscription.unsubscribe();
    subscription = null;
  }
  subscription ??= await pushManager.subscribe(options);
  const { endpoint, keys } = subscription.toJSON();
  const { id } = await client.call("POST /api/push/subscriptions", {
    body: {
      endpoint: endpoint ?? "",
      keys: { p256dh: keys?.["p256dh"] ?? "", auth: keys?.["auth"] ?? "" },
      kinds: [...kinds],
    },
  });
  storage.write(key, { id });
}

/** Removes the subscription, at the server and in the browser. */
export async function unsubscribeFromPush({ client, storage }: BrowserPushDeps): Promise<void> {
  const id = textAt(asRecord(storage.read(key)) ?? {}, "id");
  storage.remove(key);
  const registration = await navigator.serviceWorker.getRegistration(document.baseURI);
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
  await registration?.unregister();
  await caches.delete(cacheName);
  if (id === "") return;
  const { subscriptions } = await client.call("GET /api/push/subscriptions");
  if (subscriptions?.some((one) => one.id === id) !== true) return;
  await client.call("DELETE /api/push/subscriptions/{subscription_id}", { params: { subscription_id: id } });
}

function base64Url(bytes: ArrayBuffer | null): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes ?? [])));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
