import { createHmac } from "node:crypto";
import type { PushNews } from "@convoke/protocol";
import webPush from "web-push";
import type { PushKeys } from "./push-keys.ts";
import type { PushTarget } from "./subscription-store.ts";

/** One request to a push service. */
export type PushPost = {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
};

export type Sender = {
  /** `mailto:` or `https:`. */
  readonly contact: string;
  readonly keys: PushKeys;
};

/** False for malformed keys of a browser. */
export function canSeal(sender: Sender, target: PushTarget): boolean {
  try {
    toPushPost(sender, target, { conversation_id: "00000000-0000-4000-8000-000000000000", kind: "asks" });
    return true;
  } catch {
    return false;
  }
}

/** How long the push service stores a message for a browser that is off, in seconds. */
const ttlSeconds = 86_400;

/**
 * Seals news for one browser (RFC 8291) and signs the request (RFC 8292). The push service stores only the newest
 * message of a conversation. Throws for malformed keys.
 */
export function toPushPost({ contact, keys }: Sender, target: PushTarget, news: PushNews): PushPost {
  const { endpoint, headers, body } = webPush.generateRequestDetails(target, JSON.stringify(news), {
    vapidDetails: { subject: contact, ...keys },
    TTL: ttlSeconds,
    urgency: news.kind === "asks" ? "high" : "normal",
    topic: topicOf(keys, news),
    contentEncoding: "aes128gcm",
  });
  return { endpoint, headers, body: new Uint8Array(body) };
}

/** The push service must not learn the id of the conversation. */
function topicOf({ privateKey }: PushKeys, { conversation_id: id }: PushNews): string {
  return createHmac("sha256", privateKey).update(id).digest("base64url").slice(0, 32);
}
