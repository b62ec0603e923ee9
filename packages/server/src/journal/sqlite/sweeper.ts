import type { DatabaseSync, StatementSync } from "node:sqlite";
import { maxSeq, positionOf } from "./schema.ts";

/**
 * Deletes conversations, the row at once, the events in slices, so that a large log delays no append; and gives free pages back to
 * the file system.
 */
export class Sweeper {
  readonly #doom: StatementSync[];
  readonly #next: StatementSync;
  readonly #deleteEvents: StatementSync;
  readonly #deleteRecent: StatementSync;
  readonly #deleteInbox: StatementSync;
  readonly #finish: StatementSync;
  readonly #database: DatabaseSync;
  readonly #freePages: StatementSync;
  readonly #allPages: StatementSync;
  #isDue = true;
  #isShrinking = false;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#freePages = database.prepare("PRAGMA freelist_count");
    this.#allPages = database.prepare("PRAGMA page_count");
    this.#doom = [
      "DELETE FROM conversations WHERE number = ?",
      "DELETE FROM conversation_documents WHERE number = ?",
      "INSERT INTO doomed (number) VALUES (?)",
    ].map((sql) => database.prepare(sql));
    this.#next = database.prepare("SELECT number FROM doomed LIMIT 1");
    this.#deleteEvents = database.prepare(
      `DELETE FROM events WHERE position IN
       (SELECT position FROM events WHERE position BETWEEN ? AND ? ORDER BY position LIMIT 200)`,
    );
    this.#deleteRecent = database.prepare(
      `DELETE FROM recent WHERE arrival IN (SELECT arrival FROM recent WHERE position BETWEEN ? AND ? LIMIT 200)`,
    );
    this.#deleteInbox = database.prepare(
      "DELETE FROM inbox WHERE number = ?1 AND client_id IN (SELECT client_id FROM inbox WHERE number = ?1 LIMIT 200)",
    );
    this.#finish = database.prepare("DELETE FROM doomed WHERE number = ?");
  }

  /** True until a read of the table shows that nothing is left, also from a former process. */
  get isDue(): boolean {
    return this.#isDue || this.#isShrinking;
  }

  /** Shrinks the file when much of it is free. */
  shrink(): void {
    this.#isShrinking = true;
  }

  /** Makes the conversation vanish, inside the caller's transaction. */
  doom(number: number): void {
    for (const statement of this.#doom) statement.run(number);
    this.#isDue = true;
  }

  /** Removes one slice, inside the caller's transaction. */
  runSlice(): void {
    const row = this.#isDue ? this.#next.get() : undefined;
    if (row !== undefined) {
      this.#sweep(Number(row["number"]));
      return;
    }
    this.#isDue = false;
    if (this.#isShrinking) this.#shrinkSlice();
  }

  #shrinkSlice(): void {
    const free = Number(this.#freePages.get()?.["freelist_count"]);
    const all = Number(this.#allPages.get()?.["page_count"]);
    if (free * freeShare <= all) this.#isShrinking = false;
    else this.#database.exec(`PRAGMA incremental_vacuum(${shrinkSlice})`);
  }

  #sweep(number: number): void {
    const [first, last] = [positionOf(number, 0), positionOf(number, maxSeq)];
    if (this.#deleteRecent.run(first, last).changes > 0) return;
    if (this.#deleteEvents.run(first, last).changes > 0) return;
    if (this.#deleteInbox.run(number).changes > 0) return;
    this.#finish.run(number);
  }
}

/** One free page among this many is left for the next events. */
const freeShare = 32;
const shrinkSlice = 64;
