import type { Doorbell } from "../doorbell.ts";
import { toIdBytes } from "../event-id.ts";
import type { AppendBatch, Lease } from "../journal.ts";
import type { TailCache } from "../tail-cache.ts";
import type { Acknowledged } from "./acknowledged.ts";
import type { CommitWatch } from "./commit-watch.ts";
import type { Leases } from "./leases.ts";
import type { TextIndexer } from "./texts/indexer.ts";
import { maxSeq } from "./schema.ts";
import type { AppendWriter } from "./writer.ts";

export type AppendsDeps = {
  readonly leases: Pick<Leases, "heldBy">;
  readonly writer: Pick<AppendWriter, "append">;
  readonly acknowledged: Pick<Acknowledged, "note">;
  readonly doorbell: Pick<Doorbell, "has" | "ring">;
  readonly tails: Pick<TailCache, "add">;
  readonly watch: Pick<CommitWatch, "onOwnAppend">;
  readonly textIndexer: Pick<TextIndexer, "note">;
};

/** What this process adds to its logs, and who is to hear of it once it is durable. */
export class Appends {
  readonly #deps: AppendsDeps;
  /** How many of a conversation are on their way. */
  readonly #underWay = new Map<string, number>();

  constructor(deps: AppendsDeps) {
    this.#deps = deps;
  }

  isUnderWay(conversationId: string): boolean {
    return this.#underWay.has(conversationId);
  }

  /** Resolves when it is durable and all listeners of this process were notified. */
  async append(lease: Lease, batch: AppendBatch): Promise<void> {
    const { conversationId } = lease;
    const { leases, writer } = this.#deps;
    const { number } = leases.heldBy(lease);
    checkEvents(conversationId, batch);
    this.#underWay.set(conversationId, (this.#underWay.get(conversationId) ?? 0) + 1);
    try {
      await writer.append({ lease, number, batch });
    } finally {
      const left = this.#underWay.get(conversationId)! - 1;
      if (left === 0) this.#underWay.delete(conversationId);
      else this.#underWay.set(conversationId, left);
    }
    this.announce(conversationId, number, batch);
  }

  /** Notifies listeners of a durable batch. */
  announce(conversationId: string, number: number, batch: AppendBatch): void {
    const { acknowledged, doorbell, tails, watch, textIndexer } = this.#deps;
    const lastSeq = endOf(batch);
    const lastEvent = batch.events.at(-1);
    if (lastEvent !== undefined)
      acknowledged.note(conversationId, { number, seq: lastSeq, eventId: lastEvent.id });
    if (doorbell.has(conversationId)) tails.add(conversationId, batch.expectedSeq, batch.events);
    watch.onOwnAppend(conversationId, number, lastSeq);
    doorbell.ring(conversationId, lastSeq);
    if (batch.events.length > 0) textIndexer.note(number);
  }
}

/** Where the log ends behind a batch. */
export function endOf({ expectedSeq, events }: AppendBatch): number {
  return expectedSeq + events.length;
}

/** Checks that need no read of the log; the writing statement checks the rest. */
export function checkEvents(conversationId: string, { expectedSeq, events }: AppendBatch): void {
  if (expectedSeq + events.length > maxSeq) {
    throw new RangeError(`Conversation ${conversationId} is full: it has ${expectedSeq} events`);
  }
  for (const [index, { id, timestampMicros }] of events.entries()) {
    const before = events[index - 1];
    if (toIdBytes(id) === null) throw new RangeError(`The event id ${id} is no lower-case UUID`);
    if (before !== undefined && id <= before.id) {
      throw new RangeError(`The event id ${id} is not above the one before`);
    }
    if (before !== undefined && timestampMicros <= before.timestampMicros) {
      throw new RangeError(`The timestamp of event ${id} is not above the one before`);
    }
  }
}
