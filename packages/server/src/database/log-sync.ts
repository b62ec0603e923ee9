import { open } from "node:fs/promises";

/** Brings a file to the disk, off the main thread, once for all that ask at the same time. */
export class LogSync {
  readonly #path: string;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** Resolves when everything that was written before the call is on the disk. */
  async sync(): Promise<void> {
    // The one that runs may have begun before the last write.
    if (this.#running !== null) await (this.#next ??= this.#after(this.#running));
    else await this.#start();
  }

  async #after(running: Promise<void>): Promise<void> {
    await running.catch(() => {}); // Told to those who asked for that one.
    this.#next = null;
    await this.#start();
  }

  async #start(): Promise<void> {
    this.#running = this.#sync();
    try {
      await this.#running;
    } finally {
      this.#running = null;
    }
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
