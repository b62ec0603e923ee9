import type { LogHead } from "../journal/journal.ts";

const defaultMostBytes = 16 * 1024 * 1024;

/** A page as it goes out. */
export type CachedPage = {
  readonly bytes: Buffer;
  /** Null for a page that changes when its log grows. */
  readonly etag: string | null;
};

type Place = Pick<LogHead, "log" | "lastSeq">;
type Entry = CachedPage & Place;

/**
 * Pages of events, ready to be sent, within a bound of bytes. Events never change, so a page stays what it is: a settled one
 * as long as its log is there, each other one as long as nothing was appended. Whoever asks has been let in before.
 *
 * Only for speed: B6.http.plain, B6.http.filtered
 */
export class PageCache {
  readonly #maxBytes: number;
  /** The longest unused first. */
  readonly #pages = new Map<string, Entry>();
  #bytes = 0;

  constructor(maxBytes = defaultMostBytes) {
    this.#maxBytes = maxBytes;
  }

  /** `key` says which conversation and what was asked for. Undefined unless the page is the one that `head` has. */
  get(key: string, head: Place): CachedPage | undefined {
    const entry = this.#pages.get(key);
    if (entry === undefined || entry.log !== head.log) return undefined;
    if (entry.etag === null && entry.lastSeq !== head.lastSeq) return undefined;
    this.#pages.delete(key);
    this.#pages.set(key, entry);
    return entry;
  }

  /** `head` was read before the page. A page of an eighth of the bound or more is not kept. */
  keep(key: string, head: Place, page: CachedPage): void {
    this.#forget(key);
    if (page.bytes.length >= this.#maxBytes / 8) return;
    const { log, lastSeq } = head;
    this.#pages.set(key, { ...page, log, lastSeq });
    this.#bytes += key.length + page.bytes.length;
    for (const oldest of this.#pages.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#forget(oldest);
    }
  }

  /** Gives all memory back. */
  clear(): void {
    this.#pages.clear();
    this.#bytes = 0;
  }

  #forget(key: string): void {
    const entry = this.#pages.get(key);
    if (entry === undefined) return;
    this.#bytes -= key.length + entry.bytes.length;
    this.#pages.delete(key);
  }
}
