import { randomUUID } from "node:crypto";
import { accessSync, closeSync, openSync, statfsSync, unlinkSync } from "node:fs";
import { join } from "node:path";

/**
 * Empty files in the memory of the machine. They outlive a killed process, no disk can lose them, and a machine that starts anew has none.
 * So a mark that is there proves that what removes it has not happened; one that is missing proves nothing.
 */
export class PendingMarks {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Null where the folder is not in memory. */
  static open(folder = "/dev/shm"): PendingMarks | null {
    try {
      return statfsSync(folder).type === tmpfsType ? new PendingMarks(folder) : null;
    } catch {
      // Not Linux, or a machine without it: whoever asks does without.
      return null;
    }
  }

  /** Makes one and returns its name; null when the memory is full. */
  make(): string | null {
    const name = `convoke-pending-${randomUUID()}`;
    try {
      closeSync(openSync(join(this.#folder, name), "wx", 0o600));
      return name;
    } catch {
      // Without a mark nothing is promised.
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

  /** True when it is gone from here on, also when it was gone before. */
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

/** Names come from a file that may be damaged, or written by a release that stored something else there. */
const isName = /^convoke-pending-[0-9a-f-]{36}$/u;
/** Source: linux/magic.h, TMPFS_MAGIC. */
const tmpfsType = 0x01021994;
