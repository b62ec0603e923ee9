import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { StoredBlock } from "./block.ts";
import { openTextsReader } from "./tables.ts";

export type Block = { readonly number: number; readonly first_at: number };

/** How far a log has been read; 0 for one that nobody has read. */
export type ReadUpTo = { readonly seq: number; readonly eventId: string };

/** The messages of one class of a log, in a span of it. */
export type MessageSpan = {
  readonly number: number;
  readonly classCode: number;
  readonly fromSeq: number;
  readonly toSeq: number;
};

/** The index as it is read: the events of all logs, and the messages of one. */
export class TextIndex {
  readonly #database: DatabaseSync;
  readonly #log: StatementSync;
  readonly #ends: StatementSync;
  readonly #endsOfLog: StatementSync;
  readonly #drift: StatementSync;
  readonly #below: StatementSync;
  readonly #window: Readonly<Record<"ASC" | "DESC", StatementSync>>;
  readonly #matches: StatementSync;
  readonly #block: StatementSync;
  readonly #pack: StatementSync;

  private constructor(database: DatabaseSync) {
    this.#database = database;
    this.#log = database.prepare(
      "SELECT read_seq, read_id FROM logs WHERE number = ? AND conversation_id = ?",
    );
    this.#ends = database.prepare("SELECT max(id) AS high FROM blocks");
    this.#endsOfLog = database.prepare("SELECT max(id) AS high, min(id) AS low FROM blocks WHERE number = ?");
    this.#drift = database.prepare("SELECT ticks FROM drift");
    this.#below = database.prepare("SELECT id FROM blocks WHERE id <= ? ORDER BY id DESC LIMIT 1 OFFSET ?");
    const window = (direction: string): StatementSync => {
      const statement = database.prepare(
        `SELECT min(first_seq), max(first_seq), min(id), max(id) FROM (
           SELECT first_seq, id FROM blocks WHERE number = ? AND class = ? AND first_seq BETWEEN ? AND ?
           ORDER BY first_seq ${direction} LIMIT ?)`,
      );
      statement.setReturnArrays(true);
      return statement;
    };
    this.#window = { ASC: window("ASC"), DESC: window("DESC") };
    // Always upwards: downwards the full-text table walks to a range from its own end. It ignores bounds that are no integers,
    // as numbers of JavaScript are.
    this.#matches = database.prepare(
      `SELECT rowid FROM words
       WHERE words MATCH ? AND rowid BETWEEN CAST(? AS INTEGER) AND CAST(? AS INTEGER)`,
    );
    this.#matches.setReturnArrays(true);
    this.#block = database.prepare("SELECT number, first_at FROM blocks WHERE id = ?");
    this.#pack = database.prepare("SELECT entries FROM packs WHERE id = ?");
  }

  /** Null when there is none yet. */
  static open(path: string): TextIndex | null {
    const database = openTextsReader(path);
    return database === null ? null : new TextIndex(database);
  }

  /** What is read until {@link end} is of one state. */
  begin(): void {
    this.#database.exec("BEGIN");
  }

  end(): void {
    this.#database.exec("ROLLBACK");
  }

  close(): void {
    this.#database.close();
  }

  readUpTo(number: number, conversationId: string): ReadUpTo {
    const row = this.#log.get(number, conversationId);
    return { seq: Number(row?.["read_seq"] ?? 0), eventId: String(row?.["read_id"] ?? "") };
  }

  /** Where the blocks of all logs, or of one, begin and end; null when there are none. */
  ends(number: number | null): { readonly low: number; readonly high: number } | null {
    const row = number === null ? this.#ends.get() : this.#endsOfLog.get(number);
    const high = row?.["high"] ?? null;
    return high === null ? null : { low: Number(row?.["low"] ?? 0), high: Number(high) };
  }

  /** An id is at most so many ticks above the time of its block. */
  drift(): number {
    return Number(this.#drift.get()?.["ticks"] ?? 0);
  }

  /**
   * The ids of the blocks that may match, the newest first, searched in windows of blocks, which grow while they bring
   * little: a frequent word costs a small one and a rare word few. Null after each window.
   */
  *candidates(expression: string, low: number, high: number): Generator<number | null> {
    let below = high;
    for (let size = smallestWindow; below >= low;) {
      const window = Number(this.#below.get(below, size)?.["id"] ?? low);
      const from = Math.max(low, window);
      const ids = this.#match(expression, from, below);
      yield* ids.toReversed();
      yield null;
      if (ids.length < fewBlocks) size *= 4;
      below = from - 1;
    }
  }

  /** The same for the blocks of the messages of one class, in the order of the log or against it. */
  *messageBlocks(expression: string, span: MessageSpan, isDescending: boolean): Generator<number | null> {
    const { number, classCode, toSeq } = span;
    let low = this.#firstSeqOfBlock(span);
    let high = toSeq;
    for (let size = smallestWindow; ;) {
      const window = this.#window[isDescending ? "DESC" : "ASC"].get(number, classCode, low, high, size);
      const [first, last, from, to] = window as unknown as Window;
      if (first === null) return;
      const ids = this.#match(expression, from, to);
      yield* isDescending ? ids.toReversed() : ids;
      yield null;
      if (ids.length < fewBlocks) size *= 4;
      if (isDescending) high = first - 1;
      else low = last + 1;
    }
  }

  block(id: number): Block | null {
    return (this.#block.get(id) as Block | undefined) ?? null;
  }

  /** What a block has in it. */
  entries(id: number): StoredBlock {
    return this.#pack.get(id)?.["entries"] as StoredBlock;
  }

  /** Of the block that the span begins in. */
  #firstSeqOfBlock({ number, classCode, fromSeq }: MessageSpan): number {
    const [first] = this.#window.DESC.get(number, classCode, 0, fromSeq, 1) as unknown as Window;
    return first ?? 0;
  }

  #match(expression: string, from: number, to: number): number[] {
    return (this.#matches.all(expression, from, to) as unknown as [number][]).map(([id]) => id);
  }
}

type Window =
  | [first: number, last: number, from: number, to: number]
  | [first: null, last: null, from: null, to: null];

const smallestWindow = 64;
const fewBlocks = 16;
