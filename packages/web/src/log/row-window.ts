import { type Row, RowFold, textAt, type UnknownRecord } from "@convoke/client/view";
import type { LogPage } from "./log-page.ts";

/** Above this number of rows, far rows are evicted. */
export const maxRows = 2_000;
/** Cached rows of the end of the log while the window does not include it. */
const tailRows = 200;

/**
 * A window of a log without gaps. It grows at both ends and drops rows that nobody reads; they can be loaded again.
 * While the end of the log is outside the window, new events are stored apart, so that jumping to the end needs no
 * request.
 */
export class RowWindow {
  #fold = new RowFold();
  /** Cursors of the next older and the next newer page. */
  #olderPageId: string | null = null;
  #newerPageId: string | null = null;
  /** The end of the log while it is not in the window. */
  #tail: RowFold | null = null;
  #lastEventId: string | null = null;

  get rows(): readonly Row[] {
    return this.#fold.rows();
  }

  /** The newest rows; identical to `rows` if the window includes the end. */
  get newest(): readonly Row[] {
    return (this.#tail ?? this.#fold).rows();
  }

  get olderPageId(): string | null {
    return this.#olderPageId;
  }

  /** Null while the end of the log is in the window. */
  get newerPageId(): string | null {
    return this.#newerPageId;
  }

  /** The newest event that was read. */
  get lastEventId(): string | null {
    return this.#lastEventId;
  }

  takeOlder({ events, nextPageId }: LogPage): void {
    this.#fold.add(events);
    this.#olderPageId = nextPageId;
    this.#note(events);
  }

  takeNewer({ events, nextPageId }: LogPage): void {
    this.#fold.add(events);
    const last = textAt(events.at(-1), "id");
    // Events stored during the request need one more page.
    const isBehind = nextPageId === null && last !== "" && last < (this.#lastEventId ?? "");
    this.#newerPageId = isBehind ? last : nextPageId;
    if (this.#newerPageId === null) this.#tail = null;
    this.#note(events);
  }

  /** Appends new events, in log order. */
  takeNew(event: UnknownRecord): void {
    if (this.#tail === null) this.#fold.add([event]);
    else {
      this.#tail.add([event]);
      const rows = this.#tail.rows();
      if (rows.length > tailRows * 2) this.#tail.dropBefore(rows.at(-tailRows)!.id);
    }
    this.#note([event]);
  }

  /** Evicts rows before `first`, or else after `last`, if there are too many. Returns whether it did. */
  evictOutside(first: string, last: string): boolean {
    const { rows } = this;
    if (rows.length <= maxRows) return false;
    if (rows[0]!.id < first) {
      this.#fold.dropBefore(first);
      this.#olderPageId = first;
      return true;
    }
    if (rows.at(-1)!.id <= last) return false;
    if (this.#newerPageId === null) {
      this.#tail = this.#fold.copy();
      this.#tail.dropBefore(rows.at(-tailRows)!.id);
    }
    this.#fold.dropAfter(last);
    this.#newerPageId = last;
    return true;
  }

  /** Replaces the window by the end of the log. Returns whether it was elsewhere. */
  toEnd(): boolean {
    if (this.#tail === null) return false;
    this.#fold = this.#tail;
    this.#tail = null;
    this.#newerPageId = null;
    this.#olderPageId = this.rows[0]?.id ?? null;
    return true;
  }

  #note(events: readonly UnknownRecord[]): void {
    const last = textAt(events.at(-1), "id");
    if (last > (this.#lastEventId ?? "")) this.#lastEventId = last;
  }
}
