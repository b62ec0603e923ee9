import { closeSync, fdatasync, openSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";

export type LogOnDiskOptions = {
  /** Path of the database. */
  readonly path: string;
  /** Resolves when the disk has everything written to this open file; rejects when the disk refuses. */
  readonly datasync?: ((descriptor: number) => Promise<void>) | undefined;
};

/** The write-ahead log of a database whose commits do not wait for the disk; callers sync it when they need to. */
export class LogOnDisk {
  readonly #database: DatabaseSync;
  readonly #file: string;
  readonly #datasync: (descriptor: number) => Promise<void>;
  /** The disk has refused a part of the log. The system does not write that part again. */
  #hasGap = false;

  constructor(database: DatabaseSync, { path, datasync = promisify(fdatasync) }: LogOnDiskOptions) {
    this.#database = database;
    this.#file = `${path}-wal`;
    this.#datasync = datasync;
  }

  /** Syncs everything written so far to the disk, in another thread. */
  async toDisk(): Promise<void> {
    if (this.#hasGap) this.#copyBack();
    const log = openSync(this.#file, "r+");
    try {
      await this.#datasync(log);
    } catch (error) {
      this.#hasGap = true;
      throw error;
    } finally {
      closeSync(log);
    }
  }

  /**
   * After a failed sync Linux treats the unwritten pages as written; and after a power cut nothing behind a gap in the log is read.
   * So the log's content, which is still in memory, is copied into the database file, and a new log is started.
   */
  #copyBack(): void {
    if (this.#database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()?.["busy"] !== 0)
      throw new Error("The disk has refused a part of the log, and another process prevents its repair.");
    this.#hasGap = false;
  }
}
