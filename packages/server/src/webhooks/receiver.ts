import type { Journal, StoredEvent } from "../journal/journal.ts";
import type { Logger } from "../lib/logger.ts";
import { wait } from "../lib/wait.ts";
import type { Cursor, CursorStore } from "./cursor-store.ts";
import { deliver, type Delivery } from "./delivery.ts";
import type { WebhookSpec } from "./webhook.ts";

export type ReceiverDeps = {
  readonly hook: WebhookSpec;
  readonly id: string;
  readonly cursors: CursorStore;
  readonly journal: Pick<Journal, "read" | "lastSeq">;
  /** The conversation as clients read it, as JSON; null when it is gone. */
  readonly describe: (conversationId: string) => Promise<string | null>;
  readonly nowMs: () => number;
  readonly logger: Logger;
};

/** How far a receiver is behind, for people and monitors. */
export type ReceiverStatus = {
  readonly id: string;
  /** Without credentials. */
  readonly base_url: string;
  readonly lag_events: number;
  readonly lag_conversations: number;
  readonly delivered_events: number;
  readonly skipped_events: number;
  readonly failed_attempts: number;
  readonly last_error: string | null;
  /** When the next attempt is made after a failure; null when nothing waits. */
  readonly next_attempt_at: string | null;
};

/** A conversation that this receiver has not heard everything of. */
type Lane = { lastSeq: number; ackedSeq: number; wake: (() => void) | null; isTold: boolean };

const longestPauseMs = 300_000;
/** Conversations that are posted for at the same time. */
const parallelPosts = 4;

/** One webhook: follows every conversation with a durable cursor. In order within a conversation, at least once. */
export class Receiver implements AsyncDisposable {
  readonly #deps: ReceiverDeps;
  readonly #closing = new AbortController();
  readonly #lanes = new Map<string, Lane>();
  readonly #working = new Set<Promise<void>>();
  readonly #counts = { delivered: 0, skipped: 0, failed: 0 };
  readonly #queue: (() => void)[] = [];
  #posting = 0;
  #failures = 0;
  #downUntilMs = 0;
  #lastError: string | null = null;
  #sinceMs = 0;

  constructor(deps: ReceiverDeps) {
    this.#deps = deps;
  }

  /** Must resolve before the first {@link touch}. */
  async open(): Promise<void> {
    this.#sinceMs = await this.#deps.cursors.since(this.#deps.nowMs());
    for (const id of await this.#deps.cursors.listDeleted()) this.touch(id, 0);
  }

  get sinceMs(): number {
    return this.#sinceMs;
  }

  get status(): ReceiverStatus {
    const lags = [...this.#lanes.values()].map(({ lastSeq, ackedSeq }) => Math.max(0, lastSeq - ackedSeq));
    const { origin, pathname } = new URL(this.#deps.hook.base_url);
    const waits = this.#downUntilMs > this.#deps.nowMs();
    return {
      id: this.#deps.id,
      base_url: `${origin}${pathname}`,
      lag_events: lags.reduce((sum, lag) => sum + lag, 0),
      lag_conversations: this.#lanes.size,
      delivered_events: this.#counts.delivered,
      skipped_events: this.#counts.skipped,
      failed_attempts: this.#counts.failed,
      last_error: this.#lastError,
      next_attempt_at: waits ? new Date(this.#downUntilMs).toISOString() : null,
    };
  }

  /** The conversation has events up to `lastSeq`, or something else about it is new. */
  touch(conversationId: string, lastSeq: number): void {
    if (this.#closing.signal.aborted) return;
    const lane = this.#lanes.get(conversationId);
    if (lane !== undefined) {
      lane.lastSeq = Math.max(lane.lastSeq, lastSeq);
      lane.isTold = true;
      lane.wake?.();
      return;
    }
    const opened: Lane = { lastSeq, ackedSeq: 0, wake: null, isTold: false };
    this.#lanes.set(conversationId, opened);
    const working = this.#follow(conversationId, opened)
      .catch((error: unknown) =>
        this.#deps.logger.error({ webhook: this.#deps.id, error: String(error) }, "webhook stopped"),
      )
      .finally(() => this.#working.delete(working));
    this.#working.add(working);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    for (const lane of this.#lanes.values()) lane.wake?.();
    for (const next of this.#queue.splice(0)) next();
    await Promise.all(this.#working);
  }

  async #follow(id: string, lane: Lane): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      lane.isTold = false;
      const cursor = await this.#deps.cursors.load(id);
      lane.ackedSeq = cursor.seq;
      const next = await this.#step(id, lane, cursor);
      if (next === "gone") break;
      if (next === null && !lane.isTold) break;
    }
    this.#lanes.delete(id);
  }

  /** Posts what comes next; null when there is nothing. */
  async #step(id: string, lane: Lane, cursor: Cursor): Promise<Cursor | "gone" | null> {
    const start = await this.#skipTooMany(id, lane, cursor);
    const events = await this.#gather(id, lane, start);
    if (this.#closing.signal.aborted) return "gone";
    if (events.length > 0) {
      const [first, last] = [events[0]!.seq, events.at(-1)!.seq];
      // The receiver was there only since then.
      const fresh = events.filter((event) => timeOf(event.id) >= this.#sinceMs);
      if (fresh.length > 0) {
        const sequence = `${fresh[0]!.seq}-${last}`;
        const body = `[${fresh.map(({ json }) => json).join(",")}]`;
        const path = `/events/${id.replaceAll("-", "")}`;
        if (!(await this.#post({ path, body, sequence, id: `${this.#deps.id}:${id}:${sequence}` })))
          return "gone";
        this.#counts.delivered += fresh.length;
      }
      const isNews =
        first === 1 || events.some(({ json }) => json.includes('"ConversationStateUpdateEvent"'));
      // Stored as not posted yet, so that a crash between the two posts loses none.
      const next = { ...start, seq: last, infoSeq: isNews && fresh.length > 0 ? -1 : start.infoSeq };
      await this.#deps.cursors.save(id, next);
      return isNews && fresh.length > 0 ? await this.#postInfo(id, next) : next;
    }
    if (start.isDeleted || start.infoSeq < 0) return await this.#postInfo(id, start);
    return start === cursor ? null : start;
  }

  async #postInfo(id: string, cursor: Cursor): Promise<Cursor | "gone" | null> {
    const described = await this.#deps.describe(id);
    // It is being deleted at this moment: its end is told when it has come.
    if (described !== null && cursor.isDeleted && cursor.infoSeq >= 0) return null;
    const body = described ?? JSON.stringify({ id, execution_status: "deleting" });
    const state = described === null ? "deleted" : String(cursor.seq);
    const delivery = {
      path: "/conversations",
      body,
      sequence: null,
      id: `${this.#deps.id}:${id}:info:${state}`,
    };
    if (!(await this.#post(delivery))) return "gone";
    if (described === null) {
      await this.#deps.cursors.remove(id);
      return "gone";
    }
    const next = { ...cursor, infoSeq: cursor.seq };
    await this.#deps.cursors.save(id, next);
    return next;
  }

  /** A batch: as many events as may go together, or what is there when `flush_delay` is over. */
  async #gather(id: string, lane: Lane, cursor: Cursor): Promise<readonly StoredEvent[]> {
    const { hook, journal, nowMs } = this.#deps;
    const { signal } = this.#closing;
    let untilMs: number | null = null;
    for (;;) {
      const events = withinBytes(
        await journal.read(id, cursor.seq, hook.event_buffer_size),
        hook.max_batch_bytes,
      );
      lane.lastSeq = Math.max(lane.lastSeq, events.at(-1)?.seq ?? 0);
      const isFull =
        events.length >= hook.event_buffer_size || lane.lastSeq > (events.at(-1)?.seq ?? lane.lastSeq);
      if (events.length === 0 || isFull || signal.aborted) return events;
      untilMs ??= nowMs() + hook.flush_delay * 1000;
      const remainingMs = untilMs - nowMs();
      if (remainingMs <= 0) return events;
      const woken = new AbortController();
      lane.wake = () => woken.abort();
      await wait(remainingMs, AbortSignal.any([woken.signal, signal]));
      lane.wake = null;
    }
  }

  async #skipTooMany(id: string, lane: Lane, cursor: Cursor): Promise<Cursor> {
    const { hook, logger } = this.#deps;
    const skipped = lane.lastSeq - cursor.seq - hook.max_queue_size;
    if (skipped <= 0) return cursor;
    this.#counts.skipped += skipped;
    logger.error(
      { webhook: this.#deps.id, conversation: id, events: skipped },
      "webhook is too far behind, events were left out",
    );
    const next = { ...cursor, seq: cursor.seq + skipped };
    await this.#deps.cursors.save(id, next);
    return next;
  }

  /** Tries until the receiver takes it; false when this process ends before. */
  async #post(delivery: Delivery): Promise<boolean> {
    const { hook, logger, nowMs } = this.#deps;
    const { signal } = this.#closing;
    await this.#enter();
    try {
      for (;;) {
        await wait(Math.max(0, this.#downUntilMs - nowMs()), signal);
        if (signal.aborted) return false;
        try {
          await deliver(hook, delivery, nowMs(), signal);
          this.#failures = 0;
          this.#lastError = null;
          return true;
        } catch (error) {
          if (signal.aborted) return false;
          this.#counts.failed += 1;
          this.#failures += 1;
          this.#lastError = error instanceof Error ? error.message : String(error);
          const pauseMs = pauseAfter(this.#failures, hook);
          this.#downUntilMs = nowMs() + pauseMs;
          const fields = { webhook: this.#deps.id, error: this.#lastError, retryInMs: Math.round(pauseMs) };
          logger.warn(fields, "webhook was not delivered");
        }
      }
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#posting >= parallelPosts) await new Promise<void>((resolve) => this.#queue.push(resolve));
    this.#posting += 1;
  }

  #leave(): void {
    this.#posting -= 1;
    this.#queue.shift()?.();
  }
}

/** A few quick attempts, then ever longer pauses; spread out. */
function pauseAfter(failures: number, { num_retries: quick, retry_delay: seconds }: WebhookSpec): number {
  const growth = 2 ** Math.min(Math.max(0, failures - quick), 20);
  return Math.min(Math.max(seconds, 0.05) * 1000 * growth, longestPauseMs) * (0.75 + Math.random() / 2);
}

/** A single event that is too large goes alone. */
function withinBytes(events: readonly StoredEvent[], most: number): readonly StoredEvent[] {
  let bytes = 0;
  const end = events.findIndex(({ json }, index) => (bytes += Buffer.byteLength(json)) > most && index > 0);
  return end === -1 ? events : events.slice(0, end);
}

/** Event ids are UUIDv7: their first 48 bits are milliseconds. */
function timeOf(eventId: string): number {
  return Number.parseInt(eventId.replaceAll("-", "").slice(0, 12), 16);
}
