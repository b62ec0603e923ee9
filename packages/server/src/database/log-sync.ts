import { closeSync, fdatasync, openSync } from "node:fs";
import { promisify } from "node:util";
import { SharedRound } from "../lib/shared-round.ts";

/** Brings a file to the disk, off the main thread, once for all that ask at the same time. */
export class LogSync {
  readonly #path: string;
  readonly #round = new SharedRound(() => this.#sync());

  constructor(path: string) {
    this.#path = path;
  }

  /** Resolves when everything that was written before the call is on the disk. */
  async sync(): Promise<void> {
    await this.#round.ask();
  }

  async #sync(): Promise<void> {
    try {
      const file = openSync(this.#path, "r+");
      try {
        await toDisk(file);
      } finally {
        closeSync(file);
      }
    } catch (error) {
      // A log that was taken away has been brought into its database, and that to the disk.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
}

/** Opening and closing take microseconds, the way to another thread and back takes longer. */
const toDisk = promisify(fdatasync);
