import { describeError } from "../lib/describe-error.ts";
import { DamagedEventError, type Journal, type StoredEvent } from "../journal/journal.ts";
import { shownJson } from "../journal/shown-event.ts";
import { formatInstant } from "../lib/instant.ts";
import type { Logger } from "../lib/logger.ts";
import type { wait } from "../lib/wait.ts";
import { pauseAfter, withinBytes } from "./batch.ts";
import type { Cursor, CursorStore } from "./cursor-store.ts";
import { deliver, ReceiverUnavailableError, type Delivery } from "./delivery.ts";
import { Slots } from "../lib/slots.ts";
import type { WebhookSpec } from "./webhook.ts";
import type { Clock } from "../lib/clock.ts";
import { msOfUuid7 } from "../lib/uuid7.ts";

export interface DescribedConversations {
  /** The conversation as clients read it, as JSON; null when it is gone. */
  describe(conversationId: string): Promise<string | null>;
}

export type ReceiverDeps = {
  readonly hook: WebhookSpec;
  readonly id: string;
  readonly cursors: CursorStore;
  readonly journal: Pick<Journal, "read">;
  readonly conversations: DescribedConversations;
  readonly clock: Clock;
  readonly wait: typeof wait;
  readonly logger: Logger;
};

/** The lag of a receiver, for people and monitoring. */
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

/** A conversation with events that this receiver has not got yet. */
type Lane = {
  lastSeq: number;
  ackedSeq: number;
  /** Events up to here are posted without waiting for more. */
  dueSeq: number;
  /** The end of the last attempted batch: a retry posts the same batch. */
  triedSeq: number;
  /** Failures in a row that concern this conversation only. */
  failures: number;
  wake: (() => void) | null;
  isReported: boolean;
};

/** The number of conversations that are posted concurrently, with their events in memory. */
const parallelPosts = 4;

/** One webhook: follows every conversation with a durable cursor. In order within a conversation, at least once. */
export class Receiver implements AsyncDisposable {
  readonly #deps: ReceiverDeps;
  readonly #closing = new AbortController();
  readonly #lanes = new Map<string, Lane>();
  readonly #working = new Set<Promise<void>>();
  readonly #counts = { delivered: 0, skipped: 0, failed: 0 };
  readonly #slots = new Slots(parallelPosts, this.#closing.signal);
  #failures = 0;
  #downUntilMs = 0;
  #lastError: string | null = null;
  #sinceMs = 0;

  constructor(deps: ReceiverDeps) {
    this.#deps = deps;
  }

  /** Must resolve before the first {@link touch}. */
  async open(): Promise<void> {
    this.#sinceMs = await this.#deps.cursors.since(this.#deps.clock.nowMs());
    await this.checkForDeleted();
  }

  /** Posts the deletions of conversations, whichever node deleted them. */
  async checkForDeleted(): Promise<void> {
    for (const id of await this.#deps.cursors.listDeleted()) this.touch(id, 0);
  }

  get sinceMs(): number {
    return this.#sinceMs;
  }

  get status(): ReceiverStatus {
    const lags = [...this.#lanes.values()].map(({ lastSeq, ackedSeq }) => Math.max(0, lastSeq - ackedSeq));
    const { origin, pathname } = new URL(this.#deps.hook.base_url);
    const waits = this.#downUntilMs > this.#deps.clock.nowMs();
    return {
      id: this.#deps.id,
      base_url: `${origin}${pathname}`,
      lag_events: lags.reduce((sum, lag) => sum + lag, 0),
      lag_conversations: this.#lanes.size,
      delivered_events: this.#counts.delivered,
      skipped_events: this.#counts.skipped,
      failed_attempts: this.#counts.failed,
      last_error: this.#lastError,
      next_attempt_at: waits ? formatInstant(Math.round(this.#downUntilMs * 1000)) : null,
    };
  }

  /** Call it when the conversation has events up to `lastSeq`, or another change. */
  touch(conversationId: string, lastSeq: number): void {
    if (this.#closing.signal.aborted) return;
    const lane = this.#lanes.get(conversationId);
    if (lane !== undefined) {
      lane.lastSeq = Math.max(lane.lastSeq, lastSeq);
      lane.isReported = true;
      lane.wake?.();
      return;
    }
    const opened: Lane = {
      lastSeq,
      ackedSeq: 0,
      dueSeq: 0,
      triedSeq: 0,
      failures: 0,
      wake: null,
      isReported: false,
    };
    this.#lanes.set(conversationId, opened);
    const working = this.#follow(conversationId, opened).finally(() => this.#working.delete(working));
    this.#working.add(working);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    for (const lane of this.#lanes.values()) lane.wake?.();
    await Promise.all(this.#working);
  }

  /** Resolves when nothing is left to post; never rejects. */
  async #follow(id: string, lane: Lane): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      lane.isReported = false;
      try {
        const next = await this.#next(id, lane);
        lane.failures = 0;
        if (next === "gone" || (next === null && !lane.isReported)) break;
      } catch (error) {
        if (!signal.aborted) await this.#waitAfter(error, id, lane);
      }
    }
    this.#lanes.delete(id);
  }

  /**
   * Posts the next batch and returns it; null when there was nothing. Events are not read while the receiver is
   * unavailable.
   */
  async #next(id: string, lane: Lane): Promise<Cursor | "gone" | null> {
    const { cursors, clock } = this.#deps;
    const { signal } = this.#closing;
    const cursor = await cursors.load(id);
    lane.ackedSeq = cursor.seq;
    await this.#untilDue(lane, cursor);
    using _slot = await this.#slots.take();
    while (this.#downUntilMs > clock.nowMs() && !signal.aborted)
      await this.#deps.wait(this.#downUntilMs - clock.nowMs(), signal);
    if (signal.aborted) return "gone";
    try {
      return await this.#step(id, lane, cursor);
    } catch (error) {
      const isNextDamaged = error instanceof DamagedEventError && error.seq === cursor.seq + 1;
      if (!isNextDamaged) throw error;
      return await this.#skip(id, cursor, 1, "an event is damaged");
    }
  }

  /** A batch is full, or `flush_delay` has passed since its first event. */
  async #untilDue(lane: Lane, cursor: Cursor): Promise<void> {
    const { hook, clock } = this.#deps;
    const { signal } = this.#closing;
    const untilMs = clock.nowMs() + hook.flush_delay * 1000;
    for (;;) {
      const count = lane.lastSeq - cursor.seq;
      const remainingMs = untilMs - clock.nowMs();
      if (remainingMs <= 0) lane.dueSeq = lane.lastSeq;
      else if (count >= hook.event_buffer_size)
        lane.dueSeq = Math.max(lane.dueSeq, cursor.seq + hook.event_buffer_size);
      if (count <= 0 || lane.dueSeq > cursor.seq || signal.aborted) return;
      const woken = new AbortController();
      lane.wake = () => woken.abort();
      await this.#deps.wait(remainingMs, AbortSignal.any([woken.signal, signal]));
      lane.wake = null;
    }
  }

  async #step(id: string, lane: Lane, cursor: Cursor): Promise<Cursor | "gone" | null> {
    const start = await this.#skipTooMany(id, lane, cursor);
    const events = await this.#readBatch(id, lane, start);
    if (events.length > 0) {
      const [first, last] = [events[0]!.seq, events.at(-1)!.seq];
      // The receiver exists since then, so earlier events are not posted.
      const fresh = events.filter((event) => msOfUuid7(event.id) >= this.#sinceMs);
      if (fresh.length > 0) {
        const sequence = `${fresh[0]!.seq}-${last}`;
        const body = `[${fresh.map(shownJson).join(",")}]`;
        const path = `/events/${id.replaceAll("-", "")}`;
        lane.triedSeq = last;
        await this.#post({ path, body, sequence, id: `${this.#deps.id}:${id}:${sequence}` });
        this.#counts.delivered += fresh.length;
      }
      const isNews =
        first === 1 || events.some(({ json }) => json.includes('"ConversationStateUpdateEvent"'));
      // Stored as not posted yet, so that a crash between the two posts loses none.
      const next = { ...start, seq: last, infoSeq: isNews && fresh.length > 0 ? -1 : start.infoSeq };
      await this.#deps.cursors.save(id, next);
      lane.ackedSeq = last;
      return isNews && fresh.length > 0 ? await this.#postInfo(id, next) : next;
    }
    if (start.isDeleted || start.infoSeq < 0) return await this.#postInfo(id, start);
    return start === cursor ? null : start;
  }

  async #postInfo(id: string, cursor: Cursor): Promise<Cursor | "gone" | null> {
    const described = await this.#deps.conversations.describe(id);
    // It is being deleted: the deletion is posted when it is complete.
    if (described !== null && cursor.isDeleted && cursor.infoSeq >= 0) return null;
    const body = described ?? JSON.stringify({ id, execution_status: "deleting" });
    const state = described === null ? "deleted" : String(cursor.seq);
    await this.#post({
      path: "/conversations",
      body,
      sequence: null,
      id: `${this.#deps.id}:${id}:info:${state}`,
    });
    if (described === null) {
      await this.#deps.cursors.remove(id);
      return "gone";
    }
    const next = { ...cursor, infoSeq: cursor.seq };
    await this.#deps.cursors.save(id, next);
    return next;
  }

  /** The last attempted batch again; otherwise a full batch. */
  async #readBatch(id: string, lane: Lane, { seq }: Cursor): Promise<readonly StoredEvent[]> {
    const { hook, journal } = this.#deps;
    // Newer events have their own flush delay.
    if (lane.lastSeq <= seq) return [];
    const tried = lane.triedSeq - seq;
    const limit = tried > 0 ? tried : hook.event_buffer_size;
    try {
      return withinBytes(await journal.read(id, seq, limit), hook.max_batch_bytes);
    } catch (error) {
      if (!(error instanceof DamagedEventError) || error.seq <= seq + 1) throw error;
      return withinBytes(await journal.read(id, seq, error.seq - 1 - seq), hook.max_batch_bytes);
    }
  }

  async #skipTooMany(id: string, lane: Lane, cursor: Cursor): Promise<Cursor> {
    const count = lane.lastSeq - cursor.seq - this.#deps.hook.max_queue_size;
    return count <= 0 ? cursor : await this.#skip(id, cursor, count, "the receiver is too far behind");
  }

  async #skip(id: string, cursor: Cursor, count: number, reason: string): Promise<Cursor> {
    this.#counts.skipped += count;
    const fields = { webhook: this.#deps.id, conversation: id, events: count };
    this.#deps.logger.error(fields, `${reason}, events were left out`);
    const next = { ...cursor, seq: cursor.seq + count };
    await this.#deps.cursors.save(id, next);
    return next;
  }

  /** Rejects when the receiver refuses it. */
  async #post(delivery: Delivery): Promise<void> {
    await deliver(this.#deps.hook, delivery, this.#deps.clock.nowMs(), this.#closing.signal);
    this.#failures = 0;
    this.#lastError = null;
  }

  /** An unavailable receiver pauses all conversations; a refusal or an unreadable event pauses only this one. */
  async #waitAfter(error: unknown, id: string, lane: Lane): Promise<void> {
    const { hook, clock, logger } = this.#deps;
    this.#lastError = describeError(error);
    this.#counts.failed += 1;
    const isUnavailable = error instanceof ReceiverUnavailableError;
    // Concurrent failures count as one.
    if (isUnavailable && this.#downUntilMs > clock.nowMs()) return;
    const failures = isUnavailable ? (this.#failures += 1) : (lane.failures += 1);
    const pauseMs = pauseAfter(failures, hook);
    const fields = { webhook: this.#deps.id, conversation: id, error: this.#lastError };
    logger.warn({ ...fields, retryInMs: Math.round(pauseMs) }, "webhook was not delivered");
    if (isUnavailable) this.#downUntilMs = clock.nowMs() + pauseMs;
    else await this.#deps.wait(pauseMs, this.#closing.signal);
  }
}
