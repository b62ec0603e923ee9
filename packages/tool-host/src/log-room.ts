import { fstatSync, writeSync } from "node:fs";
import type { DatabaseSync, StatementSync } from "node:sqlite";

/**
 * Preallocates zeros at the end of a write-ahead log. Writing into preallocated room only syncs those bytes; a growing file also
 * waits until the file system has stored the new length, together with other changes in that file system.
 * | Frames of a log are recognised by salt and checksum, so readers and recovery stop at the zeros.
 * Source: sqlite.org/fileformat2.html, 4.1 and 4.4.
 */
export class LogRoom {
  /** Null when SQLite cannot report the size of its log: older versions would run a checkpoint instead. */
  readonly #state: StatementSync | null;
  readonly #frameBytes: number;

  constructor(database: DatabaseSync, sqlite = process.versions["sqlite"] ?? "0") {
    this.#state = reportsLogSize(sqlite) ? database.prepare("PRAGMA wal_checkpoint(NOOP)") : null;
    this.#frameBytes = Number(database.prepare("PRAGMA page_size").get()?.["page_size"]) + frameHeaderBytes;
  }

  /**
   * Preallocates when little room is left; `log` is the log file, open for appending. Without room the log grows as usual. No lock
   * is needed: a frame written meanwhile is before the zeros, or overwrites them.
   */
  keep(log: number): void {
    if (this.#state === null) return;
    const frames = Number(this.#state.get()?.["log"]);
    const { size } = fstatSync(log);
    if (size - frames * this.#frameBytes >= leastFrames * this.#frameBytes) return;
    try {
      writeSync(log, new Uint8Array(Math.min(Math.max(size, leastBytes), maxBytes)));
    } catch {
      // The disk is full or failing: the next real write reports it.
    }
  }
}

/** `wal_checkpoint(NOOP)` needs SQLite 3.51, which later releases of Node 24 contain. */
function reportsLogSize(sqlite: string): boolean {
  const [major = 0, minor = 0] = sqlite.split(".").map(Number);
  return major > 3 || (major === 3 && minor >= 51);
}

const frameHeaderBytes = 24;
/** About the size of two or three transactions. */
const leastFrames = 8;
const leastBytes = 64 * 1024;
const maxBytes = 256 * 1024;
