import { randomUUID } from "node:crypto";
import { accessSync, closeSync, openSync, statfsSync, unlinkSync } from "node:fs";
import { join } from "node:path";

/**
 * Empty files in a memory file system. They outlive a killed process, no disk failure loses them, and a reboot removes them. So an
 * existing mark proves that what removes it has not happened; a missing mark proves nothing.
 */
export class PendingMarks {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Null when the folder is not on a memory file system. */
  static open(folder = "/dev/shm"): PendingMarks | null {
    try {
      return statfsSync(folder).type === tmpfsType ? new PendingMarks(folder) : null;
    } catch {
      // Not Linux, or no memory file system: then there are no marks.
      return null;
    }
  }

  /** Creates a mark and returns its name; null when the memory is full. */
  make(): string | null {
    const name = `convoke-pending-${randomUUID()}`;
    try {
      closeSync(openSync(join(this.#folder, name), "wx", 0o600));
      return name;
    } catch {
      // Without a mark nothing can be announced.
      return null;
    }
  }

  has(name: string): boolean {
    if (!isName.test(name)) return false;
    try {
      accessSync(join(this.#folder, name));
      return true;
    } catch {
      return false;
    }
  }

  /** True when the mark does not exist after the call. */
  remove(name: string): boolean {
    if (!isName.test(name)) return true;
    try {
      unlinkSync(join(this.#folder, name));
      return true;
    } catch (error) {
      return error instanceof Error && "code" in error && error.code === "ENOENT";
    }
  }
}

/** Names come from a file that may be damaged, or that another release wrote differently. */
const isName = /^convoke-pending-[0-9a-f-]{36}$/u;
/** Source: linux/magic.h, TMPFS_MAGIC. */
const tmpfsType = 0x01021994;
