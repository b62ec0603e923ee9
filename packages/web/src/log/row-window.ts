import { RowFold } from "../folds/row-fold.ts";
import type { Row } from "../folds/row.ts";
import { textAt, type UnknownRecord } from "../lib/unknown-record.ts";
import type { LogPage } from "./log-page.ts";

/** From so many rows on those that are far from what is read are let go. */
export const maxRows = 2_000;
/** What is cached of the end of a log that is not among the rows. */
const tailRows = 200;

/**
 * A window of a log without gaps, which grows at both ends and is dropped where nobody reads. What was dropped can be read again.
 * While the end of the log is not in the window, new events are stored apart, so that one is back at the end at once.
 */
export class RowWindow {
  #fold = new RowFold();
  /** Where the next older and the next newer page begin: an event that is in the window, or the first one that is not. */
  #olderPageId: string | null = null;
  #newerPageId: string | null = null;
  /** The end of the log, from when it was let go of until it is in the window again. */
  #tail: RowFold | null = null;
  #lastEventId: string | null = null;

  get rows(): readonly Row[] {
    return this.#fold.rows();
  }

  /** The rows of the end of the log, as far as it is followed; the same as `rows` while that is in the window. */
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
    // What was added to the log while the page was on its way comes with one more page.
    const isBehind = nextPageId === null && last !== "" && last < (this.#lastEventId ?? "");
    this.#newerPageId = isBehind ? last : nextPageId;
    if (this.#newerPageId === null) this.#tail = null;
    this.#note(events);
  }

  /** Takes what was just added to the log, in the order of the log. */
  takeNew(event: UnknownRecord): void {
    if (this.#tail === null) this.#fold.add([event]);
    else {
      this.#tail.add([event]);
      const rows = this.#tail.rows();
      if (rows.length > tailRows * 2) this.#tail.dropBefore(rows.at(-tailRows)!.id);
    }
    this.#note([event]);
  }

  /** Lets go of what lies before the row `first`, or else of what lies behind the row `last`, if there is too much. Whether it did. */
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

  /** Has the end of the log in the place of what was read elsewhere. Whether it was not there. */
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
