import { trimEvent } from "./trim-event.ts";

const defaultMostCharacters = 8 * 1024 * 1024;
/** Our own writer begins each event with its id. */
const idAtStart = /^\{"id":"([0-9a-f-]{36})"/;

/** A cache of trimmed events: events never change, and large ones are read repeatedly. */
export class TrimmedEvents {
  readonly #maxCharacters: number;
  /** The least recently used first. */
  readonly #cached = new Map<string, string>();
  #characters = 0;

  constructor(maxCharacters = defaultMostCharacters) {
    this.#maxCharacters = maxCharacters;
  }

  /** The event for a client with this `trim`; null: no trimming. */
  shown(json: string, limit: number | null): string {
    if (limit === null || json.length <= 4 * limit) return json;
    const id = idAtStart.exec(json)?.[1];
    if (id === undefined) return trimEvent(json, limit);
    const key = `${id} ${limit} ${json.length}`;
    const trimmed = this.#cached.get(key) ?? trimEvent(json, limit);
    this.#forget(key);
    this.#cached.set(key, trimmed);
    this.#characters += trimmed.length;
    for (const oldest of this.#cached.keys()) {
      if (this.#characters <= this.#maxCharacters) break;
      this.#forget(oldest);
    }
    return trimmed;
  }

  #forget(key: string): void {
    this.#characters -= this.#cached.get(key)?.length ?? 0;
    this.#cached.delete(key);
  }
}
