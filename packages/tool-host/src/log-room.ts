import { fstatSync, writeSync } from "node:fs";
import type { DatabaseSync, StatementSync } from "node:sqlite";

/**
 * Room at the end of a write-ahead log, of zeros. What is written into room that is there is on the disk when its bytes are; a file that grows
 * also waits for the file system to store its new length, together with whatever else was changed in that file system.
 *
 * A frame of a log counts by the salt and the checksum in it, so readers, and whoever recovers the log, stop where the zeros begin.
 * Source: sqlite.org/fileformat2.html, 4.1 and 4.4.
 */
export class LogRoom {
  /** Null where SQLite does not tell how long its log is: it takes the question for an order to copy the log back, at once. */
  readonly #state: StatementSync | null;
  readonly #frameBytes: number;

  constructor(database: DatabaseSync, sqlite = process.versions["sqlite"] ?? "0") {
    this.#state = reportsLogSize(sqlite) ? database.prepare("PRAGMA wal_checkpoint(NOOP)") : null;
    this.#frameBytes = Number(database.prepare("PRAGMA page_size").get()?.["page_size"]) + frameHeaderBytes;
  }

  /**
   * Makes room where little is left; `log` is the file of the log, open for appending. Without room the log grows as ever. Nobody's lock is
   * needed: a frame that is written meanwhile comes before the zeros, or over them.
   */
  keep(log: number): void {
    if (this.#state === null) return;
    const frames = Number(this.#state.get()?.["log"]);
    const { size } = fstatSync(log);
    if (size - frames * this.#frameBytes >= leastFrames * this.#frameBytes) return;
    try {
      writeSync(log, new Uint8Array(Math.min(Math.max(size, leastBytes), maxBytes)));
    } catch {
      // A full disk, or one that fails: whoever writes what counts meets it too.
    }
  }
}

/** Since 3.51. Node 24 came with it later in its life. */
function reportsLogSize(sqlite: string): boolean {
  const [major = 0, minor = 0] = sqlite.split(".").map(Number);
  return major > 3 || (major === 3 && minor >= 51);
}

const frameHeaderBytes = 24;
/** What two or three transactions write. */
const leastFrames = 8;
const leastBytes = 64 * 1024;
const maxBytes = 256 * 1024;
