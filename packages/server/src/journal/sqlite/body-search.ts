import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { foldText } from "../text-terms.ts";
import { readText, type TextPlace } from "../text-place.ts";
import { findInBlock, toBlockQuery } from "./body.ts";
import type { ClassIndex } from "./class-index.ts";
import type { EventClass } from "./classes.ts";
import { damagedJson } from "../shown-event.ts";
import { isJsonIntact } from "../checksum.ts";
import type { EventReader } from "./event-reader.ts";
import type { LogRange } from "./log-ends.ts";
import type { Match } from "./matches.ts";
import { inPlace, isStorageFault, positionOf, streamOf } from "./schema.ts";

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
  readonly #classIndex: ClassIndex;
  readonly #blockAt: StatementSync;
  readonly #firstBlock: StatementSync;
  readonly #candidates: StatementSync;
  readonly #block: StatementSync;
  readonly #messages: Directed;
  readonly #recentMessages: Directed;

  constructor(database: DatabaseSync, reader: EventReader, classIndex: ClassIndex) {
    this.#reader = reader;
    this.#classIndex = classIndex;
    const prepare = (sql: string): StatementSync => {
      const statement = database.prepare(sql);
      statement.setReturnArrays(true);
      return statement;
    };
    this.#lastBlock = prepare(
      "SELECT last_seq FROM body_blocks WHERE stream = ? ORDER BY first_seq DESC LIMIT 1",
    );
    this.#blockAt = prepare(
      "SELECT id FROM body_blocks WHERE stream = ? AND first_seq <= ? ORDER BY first_seq DESC LIMIT 1",
    );
    this.#firstBlock = prepare("SELECT id FROM body_blocks WHERE stream = ? ORDER BY first_seq LIMIT 1");
    // Always upwards: downwards the full-text table walks to a range from its own end. It ignores bounds that are no integers,
    // as numbers of JavaScript are.
    this.#candidates = prepare(
      `SELECT rowid FROM body_index
       WHERE body_index MATCH ? AND rowid BETWEEN CAST(? AS INTEGER) AND CAST(? AS INTEGER)`,
    );
    this.#block = prepare("SELECT messages FROM body_blocks WHERE id = ?");
    const messages =
      (table: string, index: string) =>
      (direction: string): Messages => {
        const columns = "position, json, text, checksum";
        const range = `FROM ${table} INDEXED BY ${index} WHERE class = ? AND position BETWEEN ? AND ?
                       ORDER BY position ${direction} LIMIT ?`;
        return {
          rows: prepare(`SELECT ${columns} ${range}`),
          places: prepare(`SELECT position ${range}`),
          one: prepare(`SELECT ${columns} FROM ${table} WHERE position = ?`),
        };
      };
    this.#messages = inBothDirections(messages("events", "events_by_class"));
    this.#recentMessages = inBothDirections(messages("recent", "recent_by_position"));
  }

  /**
   * The matches in order. What is recent is looked through now, in the caller's snapshot; what is settled does not change, so
   * it may be read later, bit by bit.
   */
  start(query: BodyQuery): AsyncGenerator<Match> {
    if (query.classes !== null && !this.#classIndex.isComplete(query.log))
      return mergeInOrder([this.#scanRows(query, codesOf(query.classes))], query.isDescending);
    const streams = (query.classes ?? []).map((eventClass) => {
      const recent = this.#scanRecent(query, eventClass.code);
      const settled = this.#scanSettled(query, eventClass.code);
      return query.isDescending ? chain(recent, settled) : chain(settled, recent);
    });
    return mergeInOrder(streams, query.isDescending);
  }

  /** Event by event, for a log whose index of classes is damaged: both orders find the same. */
  *#scanRows(
    { log, body, fromSeq, toSeq, isDescending }: Omit<BodyQuery, "classes">,
    codes: readonly number[],
  ): Generator<Match | null> {
    const needle = foldText(body);
    const step = isDescending ? -1 : 1;
    for (let seq = isDescending ? toSeq : fromSeq; seq >= fromSeq && seq <= toSeq; seq += step) {
      const [, , , classCode, json, place] = this.#reader.find(log, seq) ?? [];
      const isCandidate = classCode !== undefined && codes.includes(classCode);
      const text = isCandidate ? textOf(place ?? null, json ?? "") : null;
      yield text !== null && foldText(text).includes(needle) ? { seq, json: json ?? "" } : null;
    }
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
    const [lastIndexed] = (this.#lastBlock.get(stream) as unknown as [number] | undefined) ?? [0];
    const tail = { ...query, classCode, fromSeq: Math.max(fromSeq, lastIndexed + 1), toSeq };
    if (isDescending) yield* this.#scan(this.#messages, tail);
    // A block that was closed after the look at the last one belongs to the tail.
    yield* this.#scanIndexed({ ...query, toSeq: Math.min(toSeq, lastIndexed) }, classCode);
    if (!isDescending) yield* this.#scan(this.#messages, tail);
  }

  /** By the blocks; where these are damaged, by the messages themselves. */
  *#scanIndexed(query: BodyQuery, classCode: number): Generator<Match | null> {
    let { fromSeq, toSeq } = query;
    try {
      for (const match of this.#scanBlocks(query, streamOf(query.log.number, classCode))) {
        yield match;
        if (match === null) continue;
        if (query.isDescending) toSeq = match.seq - 1;
        else fromSeq = match.seq + 1;
      }
    } catch (error) {
      if (!isStorageFault(error) && !(error instanceof SyntaxError)) throw error;
      yield* this.#scan(this.#messages, { ...query, classCode, fromSeq, toSeq });
    }
  }

  *#scanBlocks(query: BodyQuery, stream: number): Generator<Match | null> {
    const { log, fromSeq, toSeq, isDescending } = query;
    const needle = foldText(query.body);
    const seqsOf = (blockId: number): number[] => {
      const [messages] = (this.#block.get(blockId) as unknown as [string] | undefined) ?? ["gone"];
      const seqs = findInBlock(messages, needle).filter((seq) => seq >= fromSeq && seq <= toSeq);
      return isDescending ? seqs.toReversed() : seqs;
    };
    for (const blockIds of inGrowingGroups(this.#blocks(stream, query), maxBlocksTogether)) {
      let seqs: readonly number[] | null = null;
      // A transaction for each row costs as much as the row does.
      do {
        const [left, matches]: [readonly number[], Match[]] = this.#reader.snapshot(() => {
          const found: readonly number[] = seqs ?? blockIds.flatMap(seqsOf);
          const read = this.#readSome(log, found);
          return [found.slice(read.length), read];
        });
        yield* matches;
        seqs = left;
      } while (seqs.length > 0);
      yield null;
    }
  }

  /** From the first one on, as many as are in memory together without harm. */
  #readSome(log: LogRange, seqs: readonly number[]): Match[] {
    const matches: Match[] = [];
    let characters = 0;
    for (const seq of seqs) {
      if (characters > maxCharactersTogether) break;
      const json = this.#reader.readJson(log, seq);
      matches.push({ seq, json });
      characters += json.length;
    }
    return matches;
  }

  /**
   * The ids of the blocks that may hold the needle, looked for in windows of block ids: a stream's blocks are created in log order. The
   * windows grow while they bring little, so a frequent needle costs a small one and a rare needle few.
   */
  *#blocks(stream: number, query: BodyQuery): Generator<number> {
    const { isDescending } = query;
    const expression = toBlockQuery(stream, foldText(query.body));
    let high = this.#idOf(this.#blockAt.get(stream, query.toSeq)) ?? 0;
    let low = this.#idOf(this.#blockAt.get(stream, query.fromSeq) ?? this.#firstBlock.get(stream)) ?? 1;
    for (let size = smallestWindow; low <= high;) {
      const from = isDescending ? Math.max(low, high - size + 1) : low;
      const to = isDescending ? high : Math.min(high, low + size - 1);
      const found = (this.#candidates.all(expression, from, to) as unknown as [number][]).map(([id]) => id);
      yield* isDescending ? found.toReversed() : found;
      if (found.length < fewBlocks) size *= 4;
      if (isDescending) high = from - 1;
      else low = to + 1;
    }
  }

  #idOf(row: unknown): number | undefined {
    return (row as [number] | undefined)?.[0];
  }

  *#scan(messages: Directed, query: BodyQuery & { readonly classCode: number }): Generator<Match | null> {
    const base = positionOf(query.log.number, 0);
    const needle = foldText(query.body);
    const statements = query.isDescending ? messages.descending : messages.ascending;
    let { fromSeq, toSeq } = query;
    while (fromSeq <= toSeq) {
      const bounds = [base + fromSeq, base + toSeq] as const;
      const rows = readMessages(statements, query.classCode, bounds, query.isDescending);
      if (rows === null) {
        yield* this.#scanRows({ ...query, fromSeq, toSeq }, [query.classCode]);
        return;
      }
      for (const [position, json, place, checksum] of rows) {
        const text = textOf(place, json);
        if (text === null || !foldText(text).includes(needle)) continue;
        const seq = position - base;
        const isIntact = isJsonIntact(position, json, checksum);
        yield { seq, json: isIntact ? json : this.#reader.readJson(query.log, seq) };
      }
      const last = rows.at(-1);
      yield null;
      if (last === undefined || rows.length < scanSlice) return;
      if (query.isDescending) toSeq = last[0] - base - 1;
      else fromSeq = last[0] - base + 1;
    }
  }
}

/** Messages on an unreadable page have no text. Null where the index is unreadable. */
function readMessages(
  { rows, places, one }: Messages,
  classCode: number,
  [from, to]: readonly [number, number],
  isDescending: boolean,
): MessageRow[] | null {
  const found = <Row extends readonly [number, ...unknown[]]>(statement: StatementSync): Row[] => {
    const all = statement.all(classCode, from, to, scanSlice) as unknown as Row[];
    return [...inPlace(all, [from, to], isDescending)];
  };
  try {
    return found<MessageRow>(rows);
  } catch (error) {
    if (!isStorageFault(error)) throw error;
  }
  try {
    return found<[number]>(places).map(([position]) => readMessage(one, position));
  } catch (error) {
    if (!isStorageFault(error)) throw error;
    return null;
  }
}

function codesOf(classes: readonly EventClass[]): number[] {
  return classes.map(({ code }) => code);
}

function readMessage(one: StatementSync, position: number): MessageRow {
  const unreadable: MessageRow = [position, damagedJson, null, null];
  try {
    return (one.get(position) as unknown as MessageRow | undefined) ?? unreadable;
  } catch (error) {
    if (!isStorageFault(error)) throw error;
    return unreadable;
  }
}

/** In groups of one, two, four and so on: who wants few finds them in the first. */
function* inGrowingGroups(items: Iterable<number>, most: number): Generator<number[]> {
  let size = 1;
  let group: number[] = [];
  for (const item of items) {
    group.push(item);
    if (group.length < size) continue;
    yield group;
    group = [];
    size = Math.min(most, size * 2);
  }
  if (group.length > 0) yield group;
}

const maxBlocksTogether = 8;
const maxCharactersTogether = 1024 * 1024;
const scanSlice = 32;
const smallestWindow = 64;
const fewBlocks = 16;
const sliceMs = 3;

/** The messages of a range, where they are, and a single one. */
type Messages = {
  readonly rows: StatementSync;
  readonly places: StatementSync;
  readonly one: StatementSync;
};
type Directed = { readonly ascending: Messages; readonly descending: Messages };

function inBothDirections(prepare: (direction: string) => Messages): Directed {
  return { ascending: prepare("ASC"), descending: prepare("DESC") };
}

function* chain<Item>(...parts: readonly Iterable<Item>[]): Generator<Item> {
  for (const part of parts) yield* part;
}

type MessageRow = [position: number, json: string, text: TextPlace, checksum: unknown];

/** Null also where the text is damaged: then it is not what was looked for. */
function textOf(place: TextPlace, json: string): string | null {
  try {
    return readText(place, json);
  } catch {
    // No JSON string any more.
    return null;
  }
}

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
