import { BoundedCache } from "../lib/bounded-cache.ts";

/** How long a found owner is cached, in milliseconds, before the store is asked again. */
const ttlMs = 2_000;
const maxEntries = 1_000;

/** A short-lived cache of the nodes that own conversations, so that consecutive commands ask the store once. */
export class OwnerCache {
  readonly #nowMs: () => number;
  readonly #entries = new BoundedCache<{ readonly nodeId: string; readonly untilMs: number }>(maxEntries);

  /** `nowMs` is a monotonic clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Null if no owner is cached or the entry has expired. */
  get(conversationId: string): string | null {
    const entry = this.#entries.get(conversationId);
    return entry === undefined || this.#nowMs() >= entry.untilMs ? null : entry.nodeId;
  }

  set(conversationId: string, nodeId: string): void {
    this.#entries.set(conversationId, { nodeId, untilMs: this.#nowMs() + ttlMs });
  }

  delete(conversationId: string): void {
    this.#entries.delete(conversationId);
  }
}
