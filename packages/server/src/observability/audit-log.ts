import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import type { ChainNote } from "./audit-chain.ts";
import type { AuditHead } from "./audit-heads.ts";
import { streamOf, type AuditPlace } from "./audit-place.ts";
import { AuditStream } from "./audit-stream.ts";

export type AuditLogDeps = {
  /** Open until the log is closed. */
  readonly place: AuditPlace;
  /** `calls` becomes `calls.jsonl`, and `calls.1.jsonl` and so on for older ones. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The size of a file at which a new one is begun; 16 MiB unless given. */
  readonly rotateBytes?: number;
  /** How many older files are retained; 8 unless given. */
  readonly maxFiles?: number;
  /** The time between new lines and their sealed head; a minute unless given. */
  readonly sealMs?: number;
};

type Waiting = { readonly atMs: number; readonly entry: object };

/** The maximum of unwritten lines; beyond it lines are dropped, and their number is logged. */
const maxWaiting = 100_000;

/** The pause after each write: under load a write for each line costs more than reading a page does. */
const gatherMs = 20;

/**
 * An append-only file of JSON lines, bounded by rotation. Each line has a number and a digest that covers the line
 * before. Lines are written soon, in order; lines that were lost become a line that says how many.
 */
export class AuditLog implements AsyncDisposable {
  readonly #deps: Required<AuditLogDeps>;
  #waiting: Waiting[] = [];
  #lost = 0;
  #stream: AuditStream | null = null;
  /** The last line that this process has written. */
  #known: AuditHead | null = null;
  #sealTimer: NodeJS.Timeout | null = null;
  #isSealDue = false;
  #writing: Promise<void> | null = null;
  #isClosing = false;

  constructor(deps: AuditLogDeps) {
    this.#deps = { rotateBytes: 16 * 1024 * 1024, maxFiles: 8, sealMs: 60_000, ...deps };
  }

  /** Returns at once. `entry` has at least one field, must be free of secrets, and stays as it is: its line is made when it is written. */
  append(entry: object): void {
    if (this.#waiting.length >= maxWaiting) {
      this.#lost += 1;
      return;
    }
    this.#waiting.push({ atMs: this.#deps.clock.nowMs(), entry });
    this.#writing ??= this.#write();
  }

  /** Writes the pending lines and seals the last one. Nothing may be appended afterwards. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    await this.#writing;
    if (this.#lost > 0) await this.#writeEntries([]);
    if (this.#sealTimer !== null) await this.#seal();
    await this.#stream?.[Symbol.asyncDispose]();
    this.#stream = null;
  }

  async #write(): Promise<void> {
    try {
      while (this.#waiting.length > 0 || this.#isSealDue) {
        if (this.#isSealDue) await this.#seal();
        const entries = this.#waiting;
        this.#waiting = [];
        if (entries.length > 0) await this.#writeEntries(entries);
        if (!this.#isClosing) await wait(gatherMs);
      }
    } finally {
      this.#writing = null;
    }
  }

  /** Their lines are made one after the other, which takes a third of what it takes one at a time between requests. */
  async #writeEntries(entries: readonly Waiting[]): Promise<void> {
    const lost = this.#lost;
    try {
      const stream = await this.#openStream();
      const notes = lost === 0 ? [] : [this.#noteOf({ chain: "lines lost", lost })];
      await stream.write([...notes, ...entries].map(toOpenLine));
      this.#known = stream.head;
      this.#lost -= lost;
      if (lost > 0) this.#deps.logger.error({ lost }, "lines of the audit log were lost");
      this.#sealLater();
    } catch (error) {
      this.#lost += entries.length;
      await this.#dropStream();
      this.#deps.logger.error(
        { error: String(error), lost: this.#lost },
        "the audit log could not be written",
      );
    }
  }

  async #openStream(): Promise<AuditStream> {
    if (this.#stream !== null) return this.#stream;
    const { place, name, rotateBytes, maxFiles, logger } = this.#deps;
    const { writer, heads } = await place.open();
    const { directory } = place;
    const opened = await AuditStream.open(
      { directory, stream: streamOf(name, writer), heads, rotateBytes, maxFiles },
      this.#known,
    );
    this.#stream = opened.stream;
    for (const note of opened.notes) {
      if (note.chain === "break") {
        logger.error(
          { stream: opened.stream.head.stream, problem: note.problem },
          "the audit log was changed",
        );
      }
    }
    if (opened.notes.length > 0) {
      await opened.stream.write(opened.notes.map((note) => toOpenLine(this.#noteOf(note))));
      this.#known = opened.stream.head;
      await opened.stream.seal();
    }
    return opened.stream;
  }

  #noteOf(entry: ChainNote): Waiting {
    return { atMs: this.#deps.clock.nowMs(), entry };
  }

  /** The next write opens the files again and finds out what was written. */
  async #dropStream(): Promise<void> {
    const stream = this.#stream;
    this.#stream = null;
    try {
      await stream?.[Symbol.asyncDispose]();
    } catch (error) {
      this.#deps.logger.error({ error: String(error) }, "a file of the audit log could not be closed");
    }
  }

  #sealLater(): void {
    this.#sealTimer ??= setTimeout(() => {
      this.#isSealDue = true;
      this.#writing ??= this.#write();
    }, this.#deps.sealMs).unref();
  }

  async #seal(): Promise<void> {
    this.#isSealDue = false;
    if (this.#sealTimer !== null) clearTimeout(this.#sealTimer);
    this.#sealTimer = null;
    try {
      await this.#stream?.seal();
    } catch (error) {
      this.#deps.logger.error({ error: String(error) }, "the head of the audit log could not be sealed");
      if (!this.#isClosing) this.#sealLater();
    }
  }
}

/** Without the closing brace: the number and the digest follow. */
function toOpenLine({ atMs, entry }: Waiting): string {
  return `{"at":"${new Date(atMs).toISOString()}",${JSON.stringify(entry).slice(1, -1)}`;
}
