import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logger.ts";
import { wait } from "../lib/wait.ts";
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
  /** The pause after a write that failed; a second unless given. */
  readonly retryMs?: number;
  /** The maximum of unwritten lines; beyond it lines are dropped and counted. 100,000 unless given. */
  readonly maxWaiting?: number;
};

type Waiting = { readonly atMs: number; readonly entry: object };

/** The pause after each write: under load a write for each line costs more than reading a page does. */
const gatherMs = 20;

/**
 * An append-only file of JSON lines, bounded by rotation. Each line has a number and a digest that covers the line
 * before. Lines are written soon, in order. What cannot be written waits and is tried again; lines that were lost
 * become a line that says how many.
 */
export class AuditLog implements AsyncDisposable {
  readonly #deps: Required<AuditLogDeps>;
  #waiting: Waiting[] = [];
  /** Lines that follow the last one written, without their closing braces. */
  #lines: string[] = [];
  #lost = 0;
  #isFailing = false;
  #stream: AuditStream | null = null;
  /** The last line that this process has found or written. */
  #known: AuditHead | null = null;
  #sealTimer: NodeJS.Timeout | null = null;
  #isSealDue = false;
  #writing: Promise<void> | null = null;
  readonly #closing = new AbortController();

  constructor(deps: AuditLogDeps) {
    this.#deps = {
      rotateBytes: 16 * 1024 * 1024,
      maxFiles: 8,
      sealMs: 60_000,
      retryMs: 1_000,
      maxWaiting: 100_000,
      ...deps,
    };
  }

  /** Returns at once. `entry` has at least one field, must be free of secrets, and stays as it is: its line is made when it is written. */
  append(entry: object): void {
    if (this.#waiting.length + this.#lines.length >= this.#deps.maxWaiting) {
      this.#lost += 1;
      return;
    }
    this.#waiting.push({ atMs: this.#deps.clock.nowMs(), entry });
    this.#writing ??= this.#write();
  }

  /** Writes the pending lines and seals the last one. Nothing may be appended afterwards. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#writing;
    const lost = this.#lost + this.#waiting.length + this.#lines.length;
    if (lost > 0) this.#deps.logger.error({ lost }, "lines of the audit log were lost at the end");
    if (this.#sealTimer !== null) await this.#seal();
    await this.#stream?.[Symbol.asyncDispose]();
    this.#stream = null;
  }

  /** Never rejects. */
  async #write(): Promise<void> {
    while (this.#waiting.length + this.#lines.length + this.#lost > 0 || this.#isSealDue) {
      if (this.#isSealDue) await this.#seal();
      // One that began before the end is tried once more.
      const isLastTry = this.#closing.signal.aborted;
      const isWritten = await this.#writeWaiting();
      if (isLastTry && !isWritten) break;
      await wait(isWritten ? gatherMs : this.#deps.retryMs, this.#closing.signal);
    }
    this.#writing = null;
  }

  /** False when lines could not be written, which stay. */
  async #writeWaiting(): Promise<boolean> {
    const { logger } = this.#deps;
    this.#takeWaiting();
    if (this.#lines.length === 0) return true;
    try {
      const stream = await this.#openStream();
      await stream.write(this.#lines);
      this.#lines = [];
      this.#known = stream.head;
      this.#sealLater();
      if (this.#isFailing) logger.info({}, "the audit log is written again");
      this.#isFailing = false;
      return true;
    } catch (error) {
      await this.#dropStream();
      const fields = { error: String(error), waiting: this.#lines.length };
      if (!this.#isFailing) logger.error(fields, "the audit log could not be written; it is tried again");
      this.#isFailing = true;
      return false;
    }
  }

  /** Lines are made one after the other, which takes a third of what it takes one at a time between requests. */
  #takeWaiting(): void {
    const { maxWaiting, logger } = this.#deps;
    const hasRoom = this.#waiting.length + this.#lines.length < maxWaiting;
    for (const one of this.#waiting) {
      try {
        this.#lines.push(toOpenLine(one));
      } catch (error) {
        this.#lost += 1;
        logger.error({ error: String(error) }, "a line of the audit log could not be made");
      }
    }
    this.#waiting = [];
    // While nothing can be written more lines get lost, and all of them become one line.
    if (this.#lost === 0 || !hasRoom) return;
    this.#lines.push(this.#lineOf({ chain: "lines lost", lost: this.#lost }));
    logger.error({ lost: this.#lost }, "lines of the audit log were lost");
    this.#lost = 0;
  }

  async #openStream(): Promise<AuditStream> {
    if (this.#stream !== null) return this.#stream;
    const { place, name, rotateBytes, maxFiles, logger } = this.#deps;
    const { writer, heads } = await place.open();
    const { directory } = place;
    const { stream, rest, problem } = await AuditStream.open(
      { directory, stream: streamOf(name, writer), heads, rotateBytes, maxFiles },
      this.#known,
    );
    this.#stream = stream;
    // What the write that failed has nevertheless added.
    if (problem === null && this.#known !== null) this.#lines.splice(0, stream.head.n - this.#known.n);
    if (rest !== "") this.#lines.unshift(this.#lineOf({ chain: "cut off by a crash", rest }));
    if (problem !== null) {
      logger.error({ stream: stream.head.stream, problem }, "the audit log was changed");
      await stream.write([this.#lineOf({ chain: "break", problem })]);
    }
    this.#known = stream.head;
    if (problem !== null) await stream.seal();
    return stream;
  }

  #lineOf(entry: ChainNote): string {
    return toOpenLine({ atMs: this.#deps.clock.nowMs(), entry });
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
      if (!this.#closing.signal.aborted) this.#sealLater();
    }
  }
}

/** Without the closing brace: the number and the digest follow. */
function toOpenLine({ atMs, entry }: Waiting): string {
  return `{"at":"${new Date(atMs).toISOString()}",${JSON.stringify(entry).slice(1, -1)}`;
}
