import { closeSync, mkdirSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isBusy, lockFile } from "../database/sqlite-file.ts";

/** Leases for work that one node of a store does for all of them. */
export interface NamedLeases {
  /**
   * Held until it is disposed or the process ends, however it ends. Null, without waiting, while another process holds
   * it.
   */
  take(name: string): Promise<NamedLease | null>;
  /** False when no other process can have written to the store; true when that is unknown. */
  mayHaveOthers(): boolean;
}

export interface NamedLease extends AsyncDisposable {
  /** False after this node was fenced: another one may hold the lease by now. */
  isHeld(): boolean;
}

/** Leases on one data folder: file locks that the operating system releases. `name` is part of the file name. */
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
