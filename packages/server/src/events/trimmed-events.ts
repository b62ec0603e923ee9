import { trimEvent } from "./trim-event.ts";
import { BoundedCache } from "../lib/bounded-cache.ts";

const defaultMostCharacters = 8 * 1024 * 1024;
/** Our own writer begins each event with its id. */
const idAtStart = /^\{"id":"([0-9a-f-]{36})"/;

/** A cache of trimmed events: events never change, and large ones are read repeatedly. */
export class TrimmedEvents {
  readonly #cached: BoundedCache<string>;

  constructor(maxCharacters = defaultMostCharacters) {
    this.#cached = new BoundedCache(maxCharacters, ({ length }) => length);
  }

  /** The event for a client with this `trim`; null: no trimming. */
  shown(json: string, limit: number | null): string {
    if (limit === null || json.length <= 4 * limit) return json;
    const id = idAtStart.exec(json)?.[1];
    if (id === undefined) return trimEvent(json, limit);
    const key = `${id} ${limit} ${json.length}`;
    const known = this.#cached.get(key);
    if (known !== undefined) return known;
    const trimmed = trimEvent(json, limit);
    this.#cached.set(key, trimmed);
    return trimmed;
  }
}
