import { Fault } from "../lib/fault.ts";
import type { Caller } from "../security/caller.ts";

/** Requests a minute; null: no limit. */
export type RateLimitSettings = { readonly perKey: number | null; readonly perUser: number | null };

/** Answers have these headers of the IETF draft, of the limit that is nearest; times are whole seconds. */
export type RateLimitHeaders = Readonly<Record<(typeof rateLimitHeaders)[number], string>>;
export const rateLimitHeaders = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"] as const;

/** What a bucket held at a moment. A request takes {@link minuteMs}, and each millisecond brings one for each request a minute: whole numbers. */
type Bucket = { readonly credit: number; readonly atMs: number };
type Counted = { readonly name: string; readonly perMinute: number; readonly credit: number };

const minuteMs = 60_000;
/** Buckets in memory. The one that was not used for longest is dropped first; after a minute a dropped one is full anyway. */
const maxBuckets = 20_000;

/**
 * Limits the requests of each key and each user with a token bucket: a minute's requests may come at once, and then the
 * bucket fills evenly. Counted by this process alone.
 */
export class RateLimits {
  #settings: RateLimitSettings = { perKey: null, perUser: null };
  readonly #nowMs: () => number;
  /** The last used one last. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
  }

  open(settings: RateLimitSettings): void {
    this.#settings = settings;
  }

  get isOn(): boolean {
    return this.#settings.perKey !== null || this.#settings.perUser !== null;
  }

  /**
   * Counts one request: the headers for its answer, null without limits, and the fault for one too many, which counts
   * nothing.
   */
  take(caller: Caller): { readonly headers: RateLimitHeaders; readonly refusal: Fault | null } | null {
    const { perKey, perUser } = this.#settings;
    const nowMs = this.#nowMs();
    const counted = [
      ...(perKey === null ? [] : [this.#read(`key ${keyOf(caller)}`, perKey, nowMs)]),
      ...(perUser === null ? [] : [this.#read(`user ${caller.userId}`, perUser, nowMs)]),
    ].toSorted((one, other) => one.credit - other.credit);
    const [nearest] = counted;
    if (nearest === undefined) return null;
    const isOver = nearest.credit < minuteMs;
    if (!isOver)
      for (const { name, credit } of counted) this.#keep(name, { credit: credit - minuteMs, atMs: nowMs });
    const left = isOver ? nearest.credit : nearest.credit - minuteMs;
    const { perMinute } = nearest;
    const headers = {
      "ratelimit-limit": String(perMinute),
      "ratelimit-remaining": String(Math.floor(left / minuteMs)),
      "ratelimit-reset": String(secondsFor(perMinute * minuteMs - left, perMinute)),
    };
    // With two limits the other one may take longer.
    const waits = counted.map(({ credit, perMinute: rate }) => secondsFor(minuteMs - credit, rate));
    return { headers, refusal: isOver ? rateLimited(nearest, Math.max(1, ...waits)) : null };
  }

  #read(name: string, perMinute: number, nowMs: number): Counted {
    const full = perMinute * minuteMs;
    const { credit, atMs } = this.#buckets.get(name) ?? { credit: full, atMs: nowMs };
    // A clock that was set back fills nothing.
    return { name, perMinute, credit: Math.min(full, credit + Math.max(0, nowMs - atMs) * perMinute) };
  }

  #keep(name: string, bucket: Bucket): void {
    this.#buckets.delete(name);
    this.#buckets.set(name, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > maxBuckets && oldest !== undefined) this.#buckets.delete(oldest);
  }
}

/** Keys of the configuration count as one; a login that began with a key counts as that key. */
function keyOf({ userId, keyId, loginId, means }: Caller): string {
  return keyId ?? loginId ?? `${means ?? "configured"} ${userId}`;
}

function secondsFor(credit: number, perMinute: number): number {
  return Math.max(0, Math.ceil(credit / (perMinute * 1_000)));
}

function rateLimited({ name, perMinute }: Counted, retryAfterSeconds: number): Fault {
  const whose = name.startsWith("key ") ? "this key" : "your user";
  const sentence = `Too many requests: ${whose} may make ${perMinute} a minute. Try again in ${retryAfterSeconds} seconds.`;
  return new Fault("too-many", "rate_limited", sentence, [], { retryAfterSeconds });
}
