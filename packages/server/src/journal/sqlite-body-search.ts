import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { foldText, readText, toBlockQuery, type TextPlace } from "./sqlite-body.ts";
import type { EventClass } from "./sqlite-classes.ts";
import { seqsBetween, type EventReader, type LogRange } from "./sqlite-events.ts";
import type { Match } from "./sqlite-matches.ts";
import { isStorageFault, positionOf, streamOf } from "./sqlite-schema.ts";

export type BodyQuery = {
  readonly log: LogRange;
  /** Those with searchable texts; null stands for none. */
  readonly classes: readonly EventClass[] | null;
  readonly body: string;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly isDescending: boolean;
};

/** Finds messages by a part of their text, in log order, page by page. */
export class BodySearch {
  readonly #lastBlock: StatementSync;
  readonly #reader: EventReader;
  readonly #firstEndingAt: StatementSync;
  readonly #blocks: Directed;
  readonly #messages: Directed;
  readonly #recentMessages: Directed;

  constructor(database: DatabaseSync, reader: EventReader) {
    this.#reader = reader;
    const prepare = (sql: string): StatementSync => {
      const statement = database.prepare(sql);
      statement.setReturnArrays(true);
      return statement;
    };
    this.#lastBlock = prepare(
      "SELECT id, last_seq FROM body_blocks WHERE stream = ? ORDER BY last_seq DESC LIMIT 1",
    );
    this.#firstEndingAt = prepare(
      "SELECT id FROM body_blocks WHERE stream = ? AND last_seq >= ? ORDER BY last_seq LIMIT 1",
    );
    const blocks = (direction: string): StatementSync =>
      prepare(
        `SELECT id, first_seq, last_seq FROM body_blocks WHERE id IN (
           SELECT rowid FROM body_index WHERE body_index MATCH ? AND rowid BETWEEN ? AND ?
           ORDER BY rowid ${direction} LIMIT ?)
         ORDER BY id ${direction}`,
      );
    const messages =
      (source: string) =>
      (direction: string): StatementSync =>
        prepare(
          `SELECT position, json, text FROM ${source}
         WHERE class = ? AND position BETWEEN ? AND ? ORDER BY position ${direction} LIMIT ?`,
        );
    this.#blocks = inBothDirections(blocks);
    this.#messages = inBothDirections(messages("events INDEXED BY events_by_class"));
    this.#recentMessages = inBothDirections(messages("recent INDEXED BY recent_by_position"));
  }

  /**
   * The matches in order. What is recent is looked through now, in the caller's snapshot; what is settled does not change, so
   * it may be read later, bit by bit.
   */
  start(query: BodyQuery): AsyncGenerator<Match> {
    const streams = (query.classes ?? []).map((eventClass) => {
      const recent = this.#scanRecent(query, eventClass.code);
      const settled = this.#scanSettled(query, eventClass.code);
      return query.isDescending ? chain(recent, settled) : chain(settled, recent);
    });
    return mergeInOrder(streams, query.isDescending);
  }

  #scanRecent(query: BodyQuery, classCode: number): Match[] {
    const { log } = query;
    const fromSeq = Math.max(query.fromSeq, log.settledSeq + 1);
    const matches: Match[] = [];
    for (const match of this.#scan(this.#recentMessages, { ...query, classCode, fromSeq })) {
      if (match !== null) matches.push(match);
    }
    return matches;
  }

  /** The settled matches of one class in order; a null is a good moment to let others run. */
  *#scanSettled(query: BodyQuery, classCode: number): Generator<Match | null> {
    const { log, fromSeq, isDescending } = query;
    const toSeq = Math.min(query.toSeq, log.settledSeq);
    const stream = streamOf(log.number, classCode);
    const [lastBlock, lastIndexed] = (this.#lastBlock.get(stream) as unknown as BlockEnd | undefined) ?? [
      0, 0,
    ];
    const tail = { ...query, classCode, fromSeq: Math.max(fromSeq, lastIndexed + 1), toSeq };
    if (isDescending) yield* this.#scan(this.#messages, tail);
    // Blocks of a stream are created in log order, so a span of the log is a span of block ids.
    const low = this.#blockEndingAt(stream, fromSeq);
    const high = this.#blockEndingAt(stream, toSeq) ?? lastBlock;
    if (low !== null) {
      const expression = toBlockQuery(stream, foldText(query.body));
      for (const block of this.#candidates(expression, low, high, isDescending)) {
        yield null;
        yield* this.#scan(this.#messages, {
          ...query,
          classCode,
          fromSeq: Math.max(fromSeq, block.firstSeq),
          // A block that was closed after the look at the last one belongs to the tail.
          toSeq: Math.min(toSeq, block.lastSeq, lastIndexed),
        });
      }
    }
    if (!isDescending) yield* this.#scan(this.#messages, tail);
  }

  /** Blocks that may hold the needle; the page's end decides how many are asked for, so they come in growing portions. */
  *#candidates(
    expression: string,
    low: number,
    high: number,
    isDescending: boolean,
  ): Generator<{ firstSeq: number; lastSeq: number }> {
    const statement = isDescending ? this.#blocks.descending : this.#blocks.ascending;
    for (let limit = 8; low <= high; limit = Math.min(256, limit * 2)) {
      const rows = statement.all(expression, low, high, limit) as unknown as [number, number, number][];
      for (const [, firstSeq, lastSeq] of rows) yield { firstSeq, lastSeq };
      const last = rows.at(-1);
      if (last === undefined || rows.length < limit) return;
      if (isDescending) high = last[0] - 1;
      else low = last[0] + 1;
    }
  }

  /** The block that holds the `seq`, or the first one after it. */
  #blockEndingAt(stream: number, seq: number): number | null {
    return (this.#firstEndingAt.get(stream, seq) as unknown as [number] | undefined)?.[0] ?? null;
  }

  *#scan(messages: Directed, query: BodyQuery & { readonly classCode: number }): Generator<Match | null> {
    const base = positionOf(query.log.number, 0);
    const needle = foldText(query.body);
    const statement = query.isDescending ? messages.descending : messages.ascending;
    let { fromSeq, toSeq } = query;
    while (fromSeq <= toSeq) {
      const rows = this.#readMessages(statement, query, fromSeq, toSeq);
      for (const [position, json, place] of rows) {
        const text = readText(place, json);
        if (text !== null && foldText(text).includes(needle)) yield { seq: position - base, json };
      }
      const last = rows.at(-1);
      yield null;
      if (last === undefined || rows.length < scanSlice) return;
      if (query.isDescending) toSeq = last[0] - base - 1;
      else fromSeq = last[0] - base + 1;
    }
  }

  #readMessages(
    statement: StatementSync,
    { log, classCode }: { readonly log: LogRange; readonly classCode: number },
    fromSeq: number,
    toSeq: number,
  ): MessageRow[] {
    const base = positionOf(log.number, 0);
    try {
      return statement.all(classCode, base + fromSeq, base + toSeq, scanSlice) as unknown as MessageRow[];
    } catch (error) {
      // Reading them one by one tells which one is damaged.
      if (isStorageFault(error)) this.#reader.readEach(log, seqsBetween(fromSeq, toSeq));
      throw error;
    }
  }
}

const scanSlice = 32;
const sliceMs = 3;

type Directed = { readonly ascending: StatementSync; readonly descending: StatementSync };

function inBothDirections(prepare: (direction: string) => StatementSync): Directed {
  return { ascending: prepare("ASC"), descending: prepare("DESC") };
}

function* chain<Item>(...parts: readonly Iterable<Item>[]): Generator<Item> {
  for (const part of parts) yield* part;
}

type BlockEnd = [id: number, lastSeq: number];
type MessageRow = [position: number, json: string, text: TextPlace];

/** Merges streams that are in order each; gives the event loop a turn when a search takes long. */
async function* mergeInOrder(
  streams: Iterator<Match | null>[],
  isDescending: boolean,
): AsyncGenerator<Match> {
  let startedAt = performance.now();
  const heads: { match: Match; stream: Iterator<Match | null> }[] = [];
  const advance = async (stream: Iterator<Match | null>): Promise<void> => {
    for (let next = stream.next(); !next.done; next = stream.next()) {
      if (next.value !== null) {
        heads.push({ match: next.value, stream });
        return;
      }
      if (performance.now() - startedAt > sliceMs) {
        await yieldToEventLoop();
        startedAt = performance.now();
      }
    }
  };
  for (const stream of streams) await advance(stream);
  for (;;) {
    let best = 0;
    for (const [index, head] of heads.entries()) {
      const seq = heads[best]?.match.seq ?? 0;
      if (isDescending ? head.match.seq > seq : head.match.seq < seq) best = index;
    }
    const [head] = heads.splice(best, 1);
    if (head === undefined) return;
    yield head.match;
    await advance(head.stream);
  }
}
