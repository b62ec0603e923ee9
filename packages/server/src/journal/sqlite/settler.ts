import type { DatabaseSync, StatementSync } from "node:sqlite";
import { OutOfPlace } from "./schema.ts";

/**
 * Moves events from where they arrived (one table for all logs) to their place (each log in one range, indexed). A round copies
 * what had arrived when it began, log by log, and then removes it. Copying twice does nothing and removal asks for the copy, so
 * a crash or another process in the same round does no harm.
 */
export class Settler {
  readonly #newest: StatementSync;
  readonly #slice: StatementSync;
  readonly #copy: StatementSync;
  readonly #remove: StatementSync;
  readonly #count: StatementSync;
  readonly #roundSize: number;
  #round: Round | undefined;
  #staged: number;
  #characters = 0;
  #isResting = false;

  /** A round begins with `roundSize` events. */
  constructor(database: DatabaseSync, roundSize: number) {
    this.#roundSize = roundSize;
    this.#newest = database.prepare("SELECT max(arrival) AS arrival FROM recent");
    this.#slice = database.prepare(
      `SELECT position FROM recent WHERE position > ? AND arrival <= ? ORDER BY position LIMIT ${copySlice}`,
    );
    this.#slice.setReturnArrays(true);
    this.#copy = database.prepare(
      `INSERT OR IGNORE INTO events (position, id, timestamp, class, json, text, meta, checksum)
       SELECT position, id, timestamp, class, json, text, meta, checksum FROM recent
       WHERE position > ? AND position <= ? AND arrival <= ? ORDER BY position`,
    );
    this.#remove = database.prepare(
      `DELETE FROM recent WHERE arrival IN (
         SELECT arrival FROM recent WHERE arrival <= ?
         AND EXISTS (SELECT 1 FROM events WHERE events.position = recent.position)
         ORDER BY arrival LIMIT ${removeSlice})`,
    );
    this.#count = database.prepare("SELECT count(*) AS staged FROM recent");
    this.#staged = this.#countStaged();
  }

  get isDue(): boolean {
    return (
      this.#round !== undefined || this.#staged >= this.#roundSize || (this.#isResting && this.#staged > 0)
    );
  }

  /** True when appends come faster than they are settled, and must wait. */
  get isOverdue(): boolean {
    return this.#fullness >= 2;
  }

  get #fullness(): number {
    return Math.max(this.#staged / this.#roundSize, this.#characters / roundCharacters);
  }

  onStaged(count: number, characters: number): void {
    this.#staged += count;
    this.#characters += characters;
    this.#isResting = false;
  }

  /** Settles also what is too little for a round. */
  settleAll(): void {
    this.#isResting = true;
  }

  /** One slice of the round, inside the caller's transaction. */
  runSlice(): void {
    if (this.#round === undefined) {
      const newest = this.#newest.get()?.["arrival"];
      this.#round = { newestArrival: Number(newest ?? 0), copiedTo: 0, isCopied: false };
    }
    if (!this.#round.isCopied) {
      this.#copySlice(this.#round);
      return;
    }
    const removed = Number(this.#remove.run(this.#round.newestArrival).changes);
    this.#staged = Math.max(0, this.#staged - removed);
    if (removed < removeSlice) this.reset();
  }

  /** Ends the round, or gives it up after its transaction was undone: the next one begins with the first log again. */
  reset(): void {
    this.#round = undefined;
    this.#characters = 0;
    this.#staged = this.#countStaged();
  }

  #copySlice(round: Round): void {
    const rows = this.#slice.all(round.copiedTo, round.newestArrival) as unknown as [number][];
    const last = rows.at(-1)?.[0];
    if (last === undefined) {
      round.isCopied = true;
      return;
    }
    if (last <= round.copiedTo) throw new OutOfPlace(last);
    this.#copy.run(round.copiedTo, last, round.newestArrival);
    round.copiedTo = last;
  }

  #countStaged(): number {
    return Number(this.#count.get()?.["staged"]);
  }
}

type Round = { readonly newestArrival: number; copiedTo: number; isCopied: boolean };

/** Larger events fill their pages sooner. */
const roundCharacters = 3_000_000;
const copySlice = 128;
const removeSlice = 256;
