import type { ConvokeClient } from "@convoke/client";
import type { PushKind } from "@convoke/protocol";
import type { BrowserStorage } from "../lib/browser-storage.ts";
import { asRecord, textAt } from "../lib/unknown-record.ts";
import { ownScript } from "../lib/own-script.ts";

/** What a browser says of news, by their kind: it has no page then that knows the words. */
export type PushTexts = Readonly<Record<PushKind, string>>;

export type BrowserPushDeps = {
  readonly client: Pick<ConvokeClient, "call">;
  readonly storage: BrowserStorage;
};

const key = "push";
/** Of what the worker reads; see `public/push-worker.js`. */
const cacheName = "convoke-push";

/** Browsers tell pages of https and of this machine only; those of phones want to have the page installed first. */
export function isPushSupported(): boolean {
  return isSecureContext && "serviceWorker" in navigator && "PushManager" in window;
}

/** True where this browser asked to be told while no tab is open. */
export function isSubscribedToPush(storage: BrowserStorage): boolean {
  return storage.read(key) !== undefined;
}

/** Asks the browser for an address, and the server to tell it; the same again changes what is told, and in which words. */
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
  // One that was made with another key of the server is of no use to it.
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

/** Takes it all back: at the server, and in the browser. */
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
