import type { NewEvent, StoredEvent } from "./journal.ts";

export type TailLimits = {
  /** Events and characters of JSON that one conversation keeps at most. */
  readonly eventsPerConversation: number;
  readonly charactersPerConversation: number;
  /** Characters of JSON that all conversations keep together at most. */
  readonly characters: number;
};

/** What one conversation keeps: events without a gap up to the last one that this process appended. */
type Tail = {
  readonly events: StoredEvent[];
  characters: number;
  /** The last answer: followers that are equally far share it. */
  page: { readonly afterSeq: number; readonly limit: number; readonly events: readonly StoredEvent[] } | null;
};

/**
 * The newest events of logs that somebody follows, so that a hundred followers do not read the store a hundred times. It
 * holds copies of what is durable and may forget anything at any time.
 *
 * Only for speed: B10, B4.p50
 */
export class TailCache {
  readonly #limits: TailLimits;
  /** The longest unused first. */
  readonly #tails = new Map<string, Tail>();
  #characters = 0;

  constructor(limits: TailLimits = defaultLimits) {
    this.#limits = limits;
  }

  /** Takes in what was committed as `expectedSeq + 1` and following. */
  add(conversationId: string, expectedSeq: number, events: readonly NewEvent[]): void {
    const tail = this.#continue(conversationId, expectedSeq);
    for (const [index, { id, json }] of events.entries()) {
      tail.events.push({ seq: expectedSeq + 1 + index, id, json });
      tail.characters += json.length;
      this.#characters += json.length;
    }
    tail.page = null;
    this.#trim(tail);
    for (const [oldest] of this.#tails) {
      if (this.#characters <= this.#limits.characters) break;
      this.forget(oldest);
    }
  }

  /**
   * Events with `seq > afterSeq`, ascending, at most `limit`; null when the store has to be asked. Never empty: only the store
   * knows where a log ends.
   */
  read(conversationId: string, afterSeq: number, limit: number): readonly StoredEvent[] | null {
    const tail = this.#tails.get(conversationId);
    const first = tail?.events[0];
    if (tail === undefined || first === undefined || limit < 1) return null;
    if (tail.page?.afterSeq === afterSeq && tail.page.limit === limit) return tail.page.events;
    const from = afterSeq + 1 - first.seq;
    if (from < 0 || from >= tail.events.length) return null;
    const events = tail.events.slice(from, from + limit);
    tail.page = { afterSeq, limit, events };
    return events;
  }

  forget(conversationId: string): void {
    this.#characters -= this.#tails.get(conversationId)?.characters ?? 0;
    this.#tails.delete(conversationId);
  }

  clear(): void {
    this.#tails.clear();
    this.#characters = 0;
  }

  /** The conversation's tail, begun again when the events do not follow it; counts as used. */
  #continue(conversationId: string, expectedSeq: number): Tail {
    const known = this.#tails.get(conversationId);
    const isContinued = known?.events.at(-1)?.seq === expectedSeq;
    if (!isContinued) this.forget(conversationId);
    const tail = known !== undefined && isContinued ? known : { events: [], characters: 0, page: null };
    this.#tails.delete(conversationId);
    this.#tails.set(conversationId, tail);
    return tail;
  }

  #trim(tail: Tail): void {
    const { eventsPerConversation, charactersPerConversation } = this.#limits;
    let dropped = 0;
    let characters = tail.characters;
    while (tail.events.length - dropped > eventsPerConversation || characters > charactersPerConversation) {
      characters -= tail.events[dropped]?.json.length ?? 0;
      dropped += 1;
    }
    tail.events.splice(0, dropped);
    this.#characters -= tail.characters - characters;
    tail.characters = characters;
  }
}

const defaultLimits: TailLimits = {
  eventsPerConversation: 512,
  charactersPerConversation: 1024 * 1024,
  characters: 16 * 1024 * 1024,
};
