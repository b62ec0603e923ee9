import { open } from "node:fs/promises";
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
      await using file = await open(this.#path, "r+");
      await file.datasync();
    } catch (error) {
      // A log that was taken away has been brought into its database, and that to the disk.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
}
