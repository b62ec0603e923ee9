import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { foldText, readText, toBlockQuery, type TextPlace } from "./sqlite-body.ts";
import type { EventClass } from "./sqlite-classes.ts";
import type { LogRange } from "./sqlite-events.ts";
import type { Match } from "./sqlite-search.ts";
import { positionOf, streamOf } from "./sqlite-schema.ts";

export type BodyQuery = {
  readonly classes: readonly EventClass[];
  readonly body: string;
  readonly fromSeq: number;
  readonly toSeq: number;
};

/** Finds messages by a part of their text, in log order, page by page. */
export class BodySearch {
  readonly #lastBlock: StatementSync;
  readonly #firstEndingAt: StatementSync;
  readonly #blocks: { readonly ascending: StatementSync; readonly descending: StatementSync };
  readonly #messages: { readonly ascending: StatementSync; readonly descending: StatementSync };

  constructor(database: DatabaseSync) {
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
    this.#blocks = { ascending: blocks("ASC"), descending: blocks("DESC") };
    const messages = (direction: string): StatementSync =>
      prepare(
        `SELECT position, json, text FROM events INDEXED BY events_by_class
         WHERE class = ? AND position BETWEEN ? AND ? ORDER BY position ${direction} LIMIT ?`,
      );
    this.#messages = { ascending: messages("ASC"), descending: messages("DESC") };
  }

  async find(
    log: LogRange,
    query: BodyQuery & { readonly isDescending: boolean; readonly limit: number },
  ): Promise<Match[]> {
    const found: Match[] = [];
    const streams = query.classes.map((eventClass) =>
      this.#stream(log, eventClass, query, query.isDescending),
    );
    for await (const match of mergeInOrder(streams, query.isDescending)) {
      found.push(match);
      if (found.length === query.limit) break;
    }
    return found;
  }

  async count(log: LogRange, query: BodyQuery): Promise<number> {
    let total = 0;
    const streams = query.classes.map((eventClass) => this.#stream(log, eventClass, query, false));
    for await (const _ of mergeInOrder(streams, false)) total += 1;
    return total;
  }

  /** The matches of one class in order; a null is a good moment to let others run. */
  *#stream(
    log: LogRange,
    eventClass: EventClass,
    query: BodyQuery,
    isDescending: boolean,
  ): Generator<Match | null> {
    const needle = foldText(query.body);
    const stream = streamOf(log.number, eventClass.code);
    const [lastBlock, lastIndexed] = (this.#lastBlock.get(stream) as unknown as BlockEnd | undefined) ?? [
      0, 0,
    ];
    const scan = { log, classCode: eventClass.code, needle, isDescending };
    const tail = { ...scan, fromSeq: Math.max(query.fromSeq, lastIndexed + 1), toSeq: query.toSeq };
    if (isDescending) yield* this.#scan(tail);
    // Blocks of a stream are created in log order, so a span of the log is a span of block ids.
    const low = this.#blockEndingAt(stream, query.fromSeq);
    const high = this.#blockEndingAt(stream, query.toSeq) ?? lastBlock;
    if (low !== null) {
      const expression = toBlockQuery(stream, needle);
      for (const block of this.#candidates(expression, low, high, isDescending)) {
        yield null;
        const fromSeq = Math.max(query.fromSeq, block.firstSeq);
        // A block that was closed after the look at the last one belongs to the tail.
        yield* this.#scan({ ...scan, fromSeq, toSeq: Math.min(query.toSeq, block.lastSeq, lastIndexed) });
      }
    }
    if (!isDescending) yield* this.#scan(tail);
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

  *#scan(scan: {
    readonly log: LogRange;
    readonly classCode: number;
    readonly needle: string;
    readonly isDescending: boolean;
    readonly fromSeq: number;
    readonly toSeq: number;
  }): Generator<Match | null> {
    const base = positionOf(scan.log.number, 0);
    const statement = scan.isDescending ? this.#messages.descending : this.#messages.ascending;
    let { fromSeq, toSeq } = scan;
    while (fromSeq <= toSeq) {
      const rows = statement.all(
        scan.classCode,
        base + fromSeq,
        base + toSeq,
        scanSlice,
      ) as unknown as MessageRow[];
      for (const [position, json, place] of rows) {
        const text = readText(place, json);
        if (text !== null && foldText(text).includes(scan.needle)) yield { seq: position - base, json };
      }
      const last = rows.at(-1);
      yield null;
      if (last === undefined || rows.length < scanSlice) return;
      if (scan.isDescending) toSeq = last[0] - base - 1;
      else fromSeq = last[0] - base + 1;
    }
  }
}

const scanSlice = 32;
const sliceMs = 3;

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
