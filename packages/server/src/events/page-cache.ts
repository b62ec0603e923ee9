import type { LogHead } from "../journal/journal.ts";

const defaultMostBytes = 16 * 1024 * 1024;

/** A page as it is sent. */
export type CachedPage = {
  readonly bytes: Buffer;
  /** Null for a page that changes when its log grows. */
  readonly etag: string | null;
};

type Place = Pick<LogHead, "log" | "lastSeq">;
type Entry = CachedPage & Place;

/**
 * A cache of serialised event pages, bounded in bytes. Events never change, so a full page is valid as long as its log
 * exists, and any other page until the next append. Callers must have authorised the reader.
 *
 * Only for speed: B6.http.plain, B6.http.filtered
 */
export class PageCache {
  readonly #maxBytes: number;
  /** The least recently used first. */
  readonly #pages = new Map<string, Entry>();
  #bytes = 0;

  constructor(maxBytes = defaultMostBytes) {
    this.#maxBytes = maxBytes;
  }

  /** `key` identifies the conversation and the query. Undefined unless the cached page is valid at `head`. */
  get(key: string, head: Place): CachedPage | undefined {
    const entry = this.#pages.get(key);
    if (entry === undefined || entry.log !== head.log) return undefined;
    if (entry.etag === null && entry.lastSeq !== head.lastSeq) return undefined;
    this.#pages.delete(key);
    this.#pages.set(key, entry);
    return entry;
  }

  /** `head` must be read before the page. A page of an eighth of the bound or more is not cached. */
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

  /** Empties the cache. */
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
