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
  readonly #state: StatementSync;
  readonly #frameBytes: number;

  constructor(database: DatabaseSync) {
    this.#state = database.prepare("PRAGMA wal_checkpoint(NOOP)");
    this.#frameBytes = Number(database.prepare("PRAGMA page_size").get()?.["page_size"]) + frameHeaderBytes;
  }

  /**
   * Makes room where little is left; `log` is the file of the log, open for appending. Without room the log grows as ever. Nobody's lock is
   * needed: a frame that is written meanwhile comes before the zeros, or over them.
   */
  keep(log: number): void {
    const frames = Number(this.#state.get()?.["log"]);
    const { size } = fstatSync(log);
    if (size - frames * this.#frameBytes >= leastFrames * this.#frameBytes) return;
    try {
      writeSync(log, new Uint8Array(Math.min(Math.max(size, leastBytes), mostBytes)));
    } catch {
      // A full disk, or one that fails: whoever writes what counts meets it too.
    }
  }
}

const frameHeaderBytes = 24;
/** What two or three transactions write. */
const leastFrames = 8;
const leastBytes = 64 * 1024;
const mostBytes = 256 * 1024;
