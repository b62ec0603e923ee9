import { closeSync, mkdirSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isBusy, lockFile } from "../database/sqlite-file.ts";

/** What one of the servers on a store does for all of them. */
export interface NamedLeases {
  /** Taken until it is disposed or the process ends, however it ends; null at once while another process has it. */
  take(name: string): Promise<NamedLease | null>;
  /** False when no other process can have written to the store; true says nothing. */
  mayHaveOthers(): boolean;
}

export interface NamedLease extends AsyncDisposable {
  /** False after this process was taken for dead: another one may have it by now. */
  isHeld(): boolean;
}

/** Leases of the processes on one data folder: locks that the operating system frees. `name` is part of a file's name. */
export class FolderLeases implements NamedLeases {
  readonly #folder: string;

  constructor(dataDir: string) {
    this.#folder = join(dataDir, "nodes");
  }

  async take(name: string): Promise<NamedLease | null> {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const path = join(this.#folder, `${name}.lease`);
    closeSync(openSync(path, "a", 0o600));
    try {
      const lock = lockFile(path, "alone");
      return {
        isHeld: () => true,
        [Symbol.asyncDispose]: async () => {
          if (lock.isOpen) lock.close();
        },
      };
    } catch (error) {
      if (isBusy(error)) return null;
      throw error;
    }
  }

  mayHaveOthers(): boolean {
    return readdirSync(this.#folder).filter((name) => name.endsWith(".lock")).length > 1;
  }
}
