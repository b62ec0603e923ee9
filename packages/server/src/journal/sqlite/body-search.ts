import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { gramsOfBody } from "../text-grams.ts";
import { foldText } from "../text-terms.ts";
import { readText } from "../text-place.ts";
import type { EventClass } from "./classes.ts";
import type { EventReader } from "./event-reader.ts";
import type { LogRange } from "./log-ends.ts";
import type { MatchReader } from "./match-reader.ts";
import { findBodies } from "./texts/block.ts";
import { isDamagedIndex, scopeWords, toExpression, toWords } from "./texts/tables.ts";
import type { TextIndex } from "./texts/text-index.ts";
import type { TextIndexes } from "./texts/text-indexes.ts";

export type BodyQuery = {
  readonly log: LogRange;
  /** Those with searchable texts. */
  readonly classes: readonly EventClass[];
  readonly body: string;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly isDescending: boolean;
};

export type BodySearchDeps = {
  readonly events: EventReader;
  readonly matches: MatchReader;
  readonly indexes: TextIndexes;
};

/** Finds messages of one log by a part of their text: by the index as far as it has read the log, and one by one behind that. */
export class BodySearch {
  readonly #deps: BodySearchDeps;

  constructor(deps: BodySearchDeps) {
    this.#deps = deps;
  }

  /** The `seq` of the matches in order. What is in a log does not change, so it may be read bit by bit. */
  async *find(query: BodyQuery): AsyncGenerator<number> {
    using taken = this.#deps.indexes.take();
    let startedMs = performance.now();
    for (const seq of this.#all(query, taken.index)) {
      if (seq !== null) yield seq;
      else if (performance.now() - startedMs > sliceMs) {
        await yieldToEventLoop();
        startedMs = performance.now();
      }
    }
  }

  /** A null is a good moment to let others run. */
  *#all(query: BodyQuery, index: TextIndex | null): Generator<number | null> {
    const indexedSeq = index === null ? 0 : this.#indexedSeq(index, query.log);
    const behind = { ...query, fromSeq: Math.max(query.fromSeq, indexedSeq + 1) };
    if (query.isDescending) yield* this.#scan(behind);
    if (index !== null && indexedSeq > 0) {
      const indexed = { ...query, toSeq: Math.min(query.toSeq, indexedSeq) };
      const streams = query.classes.map((one) =>
        this.#ofClass(index, { ...indexed, classes: [one] }, one.code),
      );
      yield* mergeInOrder(streams, query.isDescending);
    }
    if (!query.isDescending) yield* this.#scan(behind);
  }

  /** 0 where the index cannot be read, or has read another log: a data folder can be put back to an older state. */
  #indexedSeq(index: TextIndex, { number, conversationId }: LogRange): number {
    const { events, indexes } = this.#deps;
    try {
      const { seq, eventId } = index.readUpTo(number, conversationId);
      return events.snapshot(() => {
        const log = events.open(conversationId);
        const isOfLog = log?.number === number && seq <= log.lastSeq;
        return isOfLog && seq > 0 && events.idAt(log, seq) === eventId ? seq : 0;
      });
    } catch (error) {
      if (!isDamagedIndex(error)) throw error;
      indexes.makeAgain();
      return 0;
    }
  }

  /** By the blocks; where these are damaged, by the messages themselves. */
  *#ofClass(index: TextIndex, query: BodyQuery, classCode: number): Generator<number | null> {
    const { log, isDescending } = query;
    let { fromSeq, toSeq } = query;
    const needle = foldText(query.body);
    const words = [scopeWords.messages(log.number, classCode), ...toWords(gramsOfBody(needle))];
    const expression = toExpression(words);
    try {
      const span = { number: log.number, classCode, fromSeq, toSeq };
      for (const id of index.messageBlocks(expression, span, isDescending)) {
        const found = id === null ? [] : findBodies(index.entries(id), needle);
        for (const seq of isDescending ? found.toReversed() : found) {
          if (seq < fromSeq || seq > toSeq) continue;
          yield seq;
          if (isDescending) toSeq = seq - 1;
          else fromSeq = seq + 1;
        }
        yield null;
      }
    } catch (error) {
      if (!isDamagedIndex(error)) throw error;
      this.#deps.indexes.makeAgain();
      yield* this.#scan({ ...query, fromSeq, toSeq });
    }
  }

  /** One by one; each slice in the log as it is then, because what is recent moves. */
  *#scan(query: BodyQuery): Generator<number | null> {
    const { events, matches } = this.#deps;
    const { log, classes, isDescending } = query;
    const needle = foldText(query.body);
    let { fromSeq, toSeq } = query;
    while (fromSeq <= toSeq) {
      const [seqs, found] = events.snapshot((): [number[], number[]] => {
        const now = events.open(log.conversationId);
        if (now?.number !== log.number) return [[], []];
        const some = matches.readSeqs({ log: now, fromSeq, toSeq, classes }, scanSlice, isDescending);
        return [some, some.filter((seq) => this.#textAt(now, seq)?.includes(needle))];
      });
      yield* found;
      yield null;
      const last = seqs.at(-1);
      if (last === undefined || seqs.length < scanSlice) return;
      if (isDescending) toSeq = last - 1;
      else fromSeq = last + 1;
    }
  }

  /** Folded. Null also where the event or its text is damaged: then it is no match. */
  #textAt(log: LogRange, seq: number): string | null {
    const [, , , , json = "", place = null] = this.#deps.events.find(log, seq) ?? [];
    try {
      const text = readText(place, json);
      return text === null ? null : foldText(text);
    } catch {
      // No JSON string any more.
      return null;
    }
  }
}

const scanSlice = 32;
const sliceMs = 3;

function* mergeInOrder(
  streams: readonly Iterator<number | null>[],
  isDescending: boolean,
): Generator<number | null> {
  const heads: { readonly seq: number; readonly stream: Iterator<number | null> }[] = [];
  const waiting = [...streams];
  for (;;) {
    for (const stream of waiting.splice(0)) {
      let next = stream.next();
      for (; !next.done && next.value === null; next = stream.next()) yield null;
      if (!next.done && next.value !== null) heads.push({ seq: next.value, stream });
    }
    heads.sort((left, right) => (isDescending ? right.seq - left.seq : left.seq - right.seq));
    const head = heads.shift();
    if (head === undefined) return;
    yield head.seq;
    waiting.push(head.stream);
  }
}
