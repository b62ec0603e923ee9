import type { DatabaseSync } from "node:sqlite";
import { inFile } from "../../lib/storage-fault.ts";
import { openReaderDatabase } from "./schema.ts";

/** The file of a journal, open for reading. What goes wrong with it names it. */
export class JournalFile implements Disposable {
  readonly database: DatabaseSync;
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
    try {
      this.database = openReaderDatabase(path);
    } catch (error) {
      throw inFile(error, path);
    }
  }

  read<Result>(read: () => Result): Result {
    try {
      return read();
    } catch (error) {
      throw inFile(error, this.#path);
    }
  }

  /** The same for a reading that lets others work in between. */
  async readLater<Result>(reading: Promise<Result>): Promise<Result> {
    try {
      return await reading;
    } catch (error) {
      throw inFile(error, this.#path);
    }
  }

  releaseMemory(): void {
    this.read(() => this.database.exec("PRAGMA shrink_memory"));
  }

  [Symbol.dispose](): void {
    if (this.database.isOpen) this.database.close();
  }
}
