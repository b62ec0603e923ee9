import { createHash } from "node:crypto";

/** A receiver of events, by the names of the configuration. The first seven are those of the reference. */
export type WebhookSpec = {
  readonly base_url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The maximum of events in one post. */
  readonly event_buffer_size: number;
  /** Seconds until fewer than that are posted. */
  readonly flush_delay: number;
  /** Quick attempts after a failure, `retry_delay` seconds apart; after them the pauses grow to five minutes. */
  readonly num_retries: number;
  readonly retry_delay: number;
  /** The maximum lag of one conversation, in events; older ones are dropped and counted. */
  readonly max_queue_size: number;
  readonly max_batch_bytes: number;
  /** Key of the signature; null posts without one. */
  readonly secret: string | null;
};

export const webhookDefaults: Omit<WebhookSpec, "base_url"> = {
  headers: {},
  event_buffer_size: 5,
  flush_delay: 30,
  num_retries: 3,
  retry_delay: 5,
  max_queue_size: 1_000_000,
  max_batch_bytes: 5 * 1024 * 1024,
  secret: null,
};

/** The same for the same address, whatever else is changed, so that a cursor survives a new configuration. */
export function webhookId({ base_url: url }: WebhookSpec): string {
  return createHash("sha256").update(url).digest("hex").slice(0, 16);
}

/** Reads one entry of a configuration; `fail` is called with what is wrong and must throw. */
export function readWebhook(given: unknown, fail: (msg: string) => never): WebhookSpec {
  if (typeof given !== "object" || given === null) fail("must be an object with a base_url");
  const entry = given as Readonly<Record<string, unknown>>;
  const { base_url: url, headers = {}, secret = null } = entry;
  if (typeof url !== "string" || !/^https?:\/\//.test(url) || !URL.canParse(url)) {
    fail("needs a base_url such as https://example.org/hook");
  }
  const isHeaders =
    typeof headers === "object" &&
    headers !== null &&
    Object.values(headers).every((value) => typeof value === "string");
  if (!isHeaders) fail("has headers that are not texts by name");
  if (secret !== null && typeof secret !== "string") fail("has a secret that is no text");
  const spec = { ...webhookDefaults, headers: headers as Record<string, string>, secret };
  for (const [name, least] of numbers) {
    const value = entry[name] ?? webhookDefaults[name];
    if (typeof value !== "number" || !(value >= least)) fail(`needs a ${name} of at least ${least}`);
    spec[name] = value;
  }
  return { base_url: url.replace(/\/+$/, ""), ...spec };
}

/** The settings that are numbers, and the least of each. */
const numbers = [
  ["event_buffer_size", 1],
  ["flush_delay", 0],
  ["num_retries", 0],
  ["retry_delay", 0],
  ["max_queue_size", 1],
  ["max_batch_bytes", 1],
] as const;
