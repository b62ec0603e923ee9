import type { LogHead } from "../journal/journal.ts";
import { BoundedCache } from "../lib/bounded-cache.ts";

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
  readonly #pages: BoundedCache<Entry>;

  constructor(maxBytes = defaultMostBytes) {
    this.#maxBytes = maxBytes;
    this.#pages = new BoundedCache(maxBytes, ({ bytes }, key) => key.length + bytes.length);
  }

  /** `key` identifies the conversation and the query. Undefined unless the cached page is valid at `head`. */
  get(key: string, head: Place): CachedPage | undefined {
    const entry = this.#pages.get(key);
    const isValid = entry?.log === head.log && (entry.etag !== null || entry.lastSeq === head.lastSeq);
    return isValid ? entry : undefined;
  }

  /** `head` must be read before the page. A page of an eighth of the bound or more is not cached. */
  keep(key: string, { log, lastSeq }: Place, page: CachedPage): void {
    if (page.bytes.length >= this.#maxBytes / 8) this.#pages.delete(key);
    else this.#pages.set(key, { ...page, log, lastSeq });
  }

  /** Empties the cache. */
  clear(): void {
    this.#pages.clear();
  }
}
