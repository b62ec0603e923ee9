import type { Pool } from "pg";

const sliceRows = 5000;

/** Removes the logs of deleted conversations in slices, so that a large one delays nobody; also what a former process left. */
export class Sweeper implements AsyncDisposable {
  readonly #pool: Pool;
  readonly #onFailure: (error: unknown) => void;
  #running: Promise<void> | null = null;
  #isAsked = false;
  #isClosed = false;

  constructor(pool: Pool, onFailure: (error: unknown) => void) {
    this.#pool = pool;
    this.#onFailure = onFailure;
  }

  /** Looks for doomed logs. */
  start(): void {
    this.#isAsked = true;
    this.#running ??= this.#run();
  }

  /** Waits for the slice that is being removed; may be called more than once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      while (this.#isAsked && !this.#isClosed) {
        this.#isAsked = false;
        const { rows } = await this.#pool.query<{ log: number }>(
          "SELECT log FROM convoke.doomed ORDER BY log",
        );
        for (const { log } of rows) await this.#sweep(log);
      }
    } catch (error) {
      this.#onFailure(error);
      // It stays doomed: the next deletion, and the next process, try again.
    }
    this.#running = null;
  }

  async #sweep(log: number): Promise<void> {
    for (const table of ["events", "texts", "blocks", "class_blocks", "said", "said_logs"]) {
      let removed = sliceRows;
      while (removed === sliceRows) {
        if (this.#isClosed) return;
        const { rowCount } = await this.#pool.query(
          `DELETE FROM convoke.${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM convoke.${table} WHERE log = $1 LIMIT ${sliceRows}))`,
          [log],
        );
        removed = rowCount ?? 0;
      }
    }
    await this.#pool.query("DELETE FROM convoke.doomed WHERE log = $1", [log]);
  }
}
