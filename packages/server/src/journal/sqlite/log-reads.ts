import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type {
  EventFilter,
  EventPageText,
  EventQuery,
  EventWithMeta,
  KindFilter,
  LogHead,
  StoredEvent,
} from "../journal.ts";
import { EventReader } from "./event-reader.ts";
import type { JournalFile } from "./journal-file.ts";
import { EventSearch } from "./event-search.ts";
import type { TextIndexes } from "./texts/text-indexes.ts";

/** What is read of the logs: each short, and of one state of the store; what may be long goes slice by slice. */
export class LogReads {
  readonly events: EventReader;
  readonly #file: JournalFile;
  readonly #search: EventSearch;

  constructor(file: JournalFile, indexes: TextIndexes) {
    this.#file = file;
    this.events = new EventReader(file.database);
    this.#search = new EventSearch(file.database, this.events, indexes);
  }

  readAfter(conversationId: string, afterSeq: number, limit: number): readonly StoredEvent[] {
    return this.#readNow(() => {
      const log = this.events.open(conversationId);
      return log === null ? [] : this.events.readRange(log, afterSeq + 1, log.lastSeq, limit);
    });
  }

  async readKinds(
    conversationId: string,
    kinds: readonly string[],
    fromSeq: number,
    toSeq: number,
  ): Promise<EventWithMeta[]> {
    const events: EventWithMeta[] = [];
    for (let from = Math.max(1, fromSeq); ; await yieldToEventLoop()) {
      const slice = this.#readKindsSlice(conversationId, kinds, from, toSeq);
      events.push(...slice);
      const last = slice.at(-1);
      if (last === undefined || slice.length < readSlice) return events;
      from = last.seq + 1;
    }
  }

  /** In slices: a large log never holds the event loop. */
  async sizeOf(conversationId: string): Promise<number> {
    let bytes = 0;
    for (let from = 1; ; from += sizeSlice, await yieldToEventLoop()) {
      const slice = this.#readNow(() => {
        const log = this.events.open(conversationId);
        return log === null || log.lastSeq < from
          ? null
          : this.events.bytesOf(log, from, Math.min(log.lastSeq, from + sizeSlice - 1));
      });
      if (slice === null) return bytes;
      bytes += slice;
    }
  }

  async findSeqs(conversationId: string, filter: KindFilter): Promise<number[]> {
    const found: number[] = [];
    for (let from = 1; ; await yieldToEventLoop()) {
      const slice = this.#readNow(() => this.#search.findSeqs(conversationId, filter, from, seqSlice));
      for (const seq of slice) found.push(seq);
      if (slice.length < seqSlice) return found;
      from = slice.at(-1)! + 1;
    }
  }

  /** Null when there is no such log. */
  lastSeq(conversationId: string): number | null {
    return this.head(conversationId)?.lastSeq ?? null;
  }

  head(conversationId: string): LogHead | null {
    return this.#file.read(() => this.events.head(conversationId));
  }

  search(conversationId: string, query: EventQuery): Promise<EventPageText> {
    return this.#file.readLater(this.#search.search(conversationId, query));
  }

  count(conversationId: string, filter: EventFilter): Promise<number> {
    return this.#file.readLater(this.#search.count(conversationId, filter));
  }

  getEvents(conversationId: string, ids: readonly string[]): (EventWithMeta | null)[] {
    return this.#readNow(() => {
      const log = this.events.open(conversationId);
      return ids.map((id) => {
        const seq = log === null ? null : this.events.seqOfId(log, id);
        return log === null || seq === null ? null : this.events.readOne(log, seq);
      });
    });
  }

  #readNow<Result>(read: () => Result): Result {
    return this.#file.read(() => this.events.snapshot(read));
  }

  #readKindsSlice(
    conversationId: string,
    kinds: readonly string[],
    fromSeq: number,
    toSeq: number,
  ): EventWithMeta[] {
    return this.#readNow(() => {
      const log = this.events.open(conversationId);
      if (log === null) return [];
      const seqs = this.#search.findKinds(log, kinds, fromSeq, Math.min(toSeq, log.lastSeq), readSlice);
      return this.events.readEach(log, seqs);
    });
  }
}

const readSlice = 500;
const sizeSlice = 20_000;
const seqSlice = 5_000;
