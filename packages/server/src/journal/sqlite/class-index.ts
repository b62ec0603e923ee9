import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { LogRange } from "./log-ends.ts";
import { positionOf, unlessDamaged } from "./schema.ts";

/** Tells whether the index of event classes has every settled event of a log. */
export class ClassIndex {
  readonly #count: StatementSync;
  /** Up to where the index was found to be complete, by the log's number. */
  readonly #checked = new Map<number, number>();

  constructor(database: DatabaseSync) {
    this.#count = database.prepare(
      `SELECT sum((SELECT count(*) FROM events INDEXED BY events_by_class WHERE class = code AND position BETWEEN ?1 AND ?2))
       FROM classes`,
    );
    this.#count.setReturnArrays(true);
  }

  /**
   * False where the index lacks events of the log: after damage its pages may be in each other's place, which SQLite does not notice, and each
   * order would find others. Logs of more than 4,096 events are not counted through.
   */
  isComplete({ number, settledSeq }: LogRange): boolean {
    if (settledSeq > maxCounted || this.#checked.get(number) === settledSeq) return true;
    const base = positionOf(number, 0);
    const [count] = unlessDamaged(
      () => this.#count.get(base + 1, base + settledSeq) as unknown as [number | null],
      () => [-1],
    );
    if ((count ?? 0) !== settledSeq) return false;
    if (this.#checked.size >= maxChecked) this.#checked.clear();
    this.#checked.set(number, settledSeq);
    return true;
  }
}

const maxCounted = 4_096;
const maxChecked = 1_000;
