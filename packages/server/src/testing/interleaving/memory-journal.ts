import type {
  AppendBatch,
  ConversationRow,
  EventWithMeta,
  InboxEntry,
  Journal,
  Lease,
  NewConversation,
  NewEvent,
  StoredEvent,
} from "../../journal/journal.ts";
import { LeaseLostError, noMarks, SeqConflictError } from "../../journal/journal.ts";

/** The parts of a journal that conversations use. */
export type WriterJournal = Pick<
  Journal,
  "append" | "getEvents" | "read" | "readKinds" | "getInboxEntry" | "release"
>;

/** One conversation's events and row in memory: the disk of a test, which survives the actors that write it. */
export class MemoryLog {
  readonly batches: (readonly NewEvent[])[] = [];
  readonly #events: EventWithMeta[] = [];
  readonly #written: AppendBatch[] = [];
  readonly #inbox = new Map<string, InboxEntry>();
  #row: ConversationRow;
  #generation = 0;

  constructor(row: NewConversation) {
    this.#row = { ...row, lastSeq: 0, marks: noMarks };
  }

  get row(): ConversationRow {
    return this.#row;
  }

  get events(): readonly EventWithMeta[] {
    return this.#events;
  }

  /** Fences every earlier lease. */
  claim(): Lease {
    this.#generation += 1;
    return { conversationId: this.#row.id, generation: this.#generation };
  }

  /** All or nothing, like the real one. */
  write(lease: Lease, batch: AppendBatch): void {
    if (lease.generation !== this.#generation) throw new LeaseLostError("another generation owns the log");
    if (batch.expectedSeq !== this.#row.lastSeq) {
      throw new SeqConflictError(`expected ${batch.expectedSeq}, the log is at ${this.#row.lastSeq}`);
    }
    for (const { id, json, meta } of batch.events) {
      this.#events.push({ seq: this.#events.length + 1, id, json, meta });
    }
    const { clientId, ...entry } = batch.inbox ?? { clientId: null };
    if (clientId !== null) this.#inbox.set(clientId, entry as InboxEntry);
    this.#row = { ...this.#row, ...batch.conversation, lastSeq: this.#events.length };
    this.batches.push(batch.events);
    this.#written.push(batch);
  }

  /** The disk after the first `count` writes, as a process finds it after a kill. */
  cut(row: NewConversation, count: number): MemoryLog {
    const left = new MemoryLog(row);
    for (const batch of this.#written.slice(0, count)) left.write(left.claim(), batch);
    return left;
  }

  read(afterSeq: number, limit: number): StoredEvent[] {
    return this.#events.slice(afterSeq, afterSeq + limit);
  }

  readKinds(kinds: readonly string[], fromSeq: number, toSeq: number): EventWithMeta[] {
    return this.#events
      .slice(Math.max(0, fromSeq - 1), toSeq)
      .filter(({ json }) => kinds.includes((JSON.parse(json) as { kind: string }).kind));
  }

  inboxEntry(clientId: string): InboxEntry | null {
    return this.#inbox.get(clientId) ?? null;
  }
}

/** A journal on a {@link MemoryLog} whose writes happen when `admit` lets them. */
export function openMemoryJournal(
  log: MemoryLog,
  admit: (write: () => void) => Promise<void>,
): WriterJournal {
  return {
    append: (lease, batch) => admit(() => log.write(lease, batch)),
    read: async (_id, afterSeq, limit) => log.read(afterSeq, limit),
    readKinds: async (_id, kinds, fromSeq, toSeq) => log.readKinds(kinds, fromSeq, toSeq),
    getEvents: async (_id, ids) => ids.map((id) => log.events.find((event) => event.id === id) ?? null),
    getInboxEntry: async (_id, clientId) => log.inboxEntry(clientId),
    release: async () => {},
  };
}
