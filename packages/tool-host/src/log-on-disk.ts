import { closeSync, constants, fdatasync, openSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { LogRoom } from "./log-room.ts";

export type LogOnDiskOptions = {
  /** Of the database. */
  readonly path: string;
  /** Resolves when the disk has all that was written to this open file; rejects when it refuses. */
  readonly datasync?: ((descriptor: number) => Promise<void>) | undefined;
};

/** The write-ahead log of a database whose commits do not wait for the disk: whoever needs that asks for it. */
export class LogOnDisk {
  readonly #database: DatabaseSync;
  readonly #file: string;
  readonly #datasync: (descriptor: number) => Promise<void>;
  readonly #room: LogRoom;
  /** The disk has refused something of it, which the system does not bring there again. */
  #hasGap = false;

  constructor(database: DatabaseSync, { path, datasync = promisify(fdatasync) }: LogOnDiskOptions) {
    this.#database = database;
    this.#file = `${path}-wal`;
    this.#datasync = datasync;
    this.#room = new LogRoom(database);
  }

  /** Brings everything that was written before to the disk, in another thread. */
  async toDisk(): Promise<void> {
    if (this.#hasGap) this.#copyBack();
    const log = openSync(this.#file, O_WRONLY | O_APPEND);
    try {
      this.#room.keep(log);
      await this.#datasync(log);
    } catch (error) {
      this.#hasGap = true;
      throw error;
    } finally {
      closeSync(log);
    }
  }

  /**
   * After a failure Linux takes what was not written for written, and says so from then on; whatever comes behind a gap in the log is not
   * read after a power cut. So what memory has of the log is written to the file, and the log begins anew.
   */
  #copyBack(): void {
    if (this.#database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()?.["busy"] !== 0)
      throw new Error("The disk has refused a part of it, and another process keeps it from being mended.");
    this.#hasGap = false;
  }
}

const { O_APPEND, O_WRONLY } = constants;
