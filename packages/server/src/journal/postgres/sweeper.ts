import type { Pool } from "pg";

const sliceRows = 5000;
/** Logs per slice. */
const sliceLogs = 1000;

/** Removes the logs of deleted conversations in slices, so that a large one delays nobody; also what a former process left. */
export class Sweeper implements AsyncDisposable {
  readonly #pool: Pool;
  readonly #onFailure: (error: unknown) => void;
  #running: Promise<void> | null = null;
  #isAsked = false;
  /** The last log whose blocks were checked since this process started; null when all were. */
  #checkedUpTo: number | null = 0;
  #isClosed = false;

  constructor(pool: Pool, onFailure: (error: unknown) => void) {
    this.#pool = pool;
    this.#onFailure = onFailure;
  }

  /** Searches for logs that are marked as deleted. */
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
        await this.#doomLeftOver();
        const { rows } = await this.#pool.query<{ log: number }>(
          "SELECT log FROM convoke.doomed ORDER BY log",
        );
        for (const { log } of rows) await this.#sweep(log);
      }
    } catch (error) {
      this.#onFailure(error);
      // It stays marked as deleted: the next deletion, or the next process, retries.
    }
    this.#running = null;
  }

  /**
   * Once in a process: another one may have made blocks of a log while its deletion ended.
   */
  async #doomLeftOver(): Promise<void> {
    while (this.#checkedUpTo !== null && !this.#isClosed) {
      const { rows } = await this.#pool.query<{ last: number | null }>(leftOverSql, [
        this.#checkedUpTo,
        sliceLogs,
      ]);
      this.#checkedUpTo = rows[0]!.last;
    }
  }

  async #sweep(log: number): Promise<void> {
    for (const table of ["events", "texts", "text_blocks", "text_logs"]) {
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

/** Each log is one step in an index, however many blocks it has. Without a head it is gone: numbers are never used again. */
const leftOverSql = `
  WITH RECURSIVE walked(log) AS (
    (SELECT log FROM convoke.text_blocks WHERE log > $1 ORDER BY log LIMIT 1)
    UNION ALL
    SELECT (SELECT b.log FROM convoke.text_blocks b WHERE b.log > walked.log ORDER BY b.log LIMIT 1)
    FROM walked WHERE walked.log IS NOT NULL
  ), slice AS (
    SELECT log FROM walked WHERE log IS NOT NULL LIMIT $2
  ), gone AS (
    INSERT INTO convoke.doomed (log)
    SELECT s.log FROM slice s WHERE NOT EXISTS (SELECT FROM convoke.heads h WHERE h.number = s.log)
    ON CONFLICT DO NOTHING
  )
  SELECT max(log) AS last FROM slice`;
