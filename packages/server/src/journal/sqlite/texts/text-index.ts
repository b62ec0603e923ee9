import type { DatabaseSync, StatementSync } from "node:sqlite";
import { openTextsReader } from "./tables.ts";

export type Block = { readonly number: number; readonly first_at: number };

/** The index as it is read. */
export class TextIndex implements Disposable {
  readonly #database: DatabaseSync;
  readonly #ends: StatementSync;
  readonly #endsOfLog: StatementSync;
  readonly #drift: StatementSync;
  readonly #below: StatementSync;
  readonly #matches: StatementSync;
  readonly #block: StatementSync;
  readonly #pack: StatementSync;

  private constructor(database: DatabaseSync) {
    this.#database = database;
    this.#ends = database.prepare("SELECT max(id) AS high FROM blocks");
    this.#endsOfLog = database.prepare("SELECT max(id) AS high, min(id) AS low FROM blocks WHERE number = ?");
    this.#drift = database.prepare("SELECT ticks FROM drift");
    this.#below = database.prepare("SELECT id FROM blocks WHERE id <= ? ORDER BY id DESC LIMIT 1 OFFSET ?");
    // Upwards, and with bounds that are integers: see BodySearch.
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

  [Symbol.dispose](): void {
    this.#database.close();
  }

  /** What is read until the end of it is of one state. One at a time. */
  snapshot(): Disposable {
    this.#database.exec("BEGIN");
    return { [Symbol.dispose]: () => this.#database.isOpen && this.#database.exec("ROLLBACK") };
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
   * The ids of the blocks that may match, the newest first, looked for in windows of blocks, which grow while they bring
   * little: a frequent word costs a small one and a rare word few. Null after each window.
   */
  *candidates(expression: string, low: number, high: number): Generator<number | null> {
    let below = high;
    for (let size = smallestWindow; below >= low;) {
      const window = Number(this.#below.get(below, size)?.["id"] ?? low);
      const from = Math.max(low, window);
      const ids = (this.#matches.all(expression, from, below) as unknown as [number][]).map(([id]) => id);
      yield* ids.toReversed();
      yield null;
      if (ids.length < fewBlocks) size *= 4;
      below = from - 1;
    }
  }

  block(id: number): Block | null {
    return (this.#block.get(id) as Block | undefined) ?? null;
  }

  /** What a block has in it. */
  entries(id: number): Uint8Array {
    return this.#pack.get(id)?.["entries"] as Uint8Array;
  }
}

const smallestWindow = 64;
const fewBlocks = 16;
