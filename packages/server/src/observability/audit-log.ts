import { open, rename, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { makeDirectory } from "../lib/make-directory.ts";
import type { Logger } from "../lib/logger.ts";
import type { Clock } from "../lib/clock.ts";

export type AuditLogDeps = {
  /** Absolute; created if missing, accessible to this user only. */
  readonly directory: string;
  /** `calls` becomes `calls.jsonl`, and `calls.1.jsonl` and so on for older ones. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The size of a file at which a new one is begun; 16 MiB unless given. */
  readonly rotateBytes?: number;
  /** How many older files are retained; 8 unless given. */
  readonly maxFiles?: number;
};

type Waiting = { readonly atMs: number; readonly entry: object };

/** The maximum of unwritten lines; beyond it lines are dropped, and their number is logged. */
const maxWaiting = 100_000;

/** The pause after each write: under load a write for each line costs more than reading a page does. */
const gatherMs = 20;

/**
 * An append-only file of JSON lines, bounded by rotation. Lines are written soon, in order; dropped lines are logged.
 */
export class AuditLog implements AsyncDisposable {
  readonly #deps: Required<AuditLogDeps>;
  #waiting: Waiting[] = [];
  #lost = 0;
  #file: FileHandle | null = null;
  #sizeBytes = 0;
  #writing: Promise<void> | null = null;
  #isClosing = false;

  constructor(deps: AuditLogDeps) {
    this.#deps = { rotateBytes: 16 * 1024 * 1024, maxFiles: 8, ...deps };
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

  /** Writes the pending lines. Nothing may be appended afterwards. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    await this.#writing;
    await this.#file?.close();
    this.#file = null;
  }

  async #write(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const entries = this.#waiting;
        this.#waiting = [];
        await this.#writeEntries(entries);
        if (!this.#isClosing) await setTimeout(gatherMs);
      }
    } finally {
      this.#writing = null;
    }
  }

  /** Their lines are made one after the other, which takes a third of what it takes one at a time between requests. */
  async #writeEntries(entries: readonly Waiting[]): Promise<void> {
    try {
      const file = await this.#openFile();
      const bytes = Buffer.from(entries.map(toLine).join(""));
      await file.appendFile(bytes);
      this.#sizeBytes += bytes.length;
      if (this.#lost > 0) this.#deps.logger.error({ lost: this.#lost }, "lines of the audit log were lost");
      this.#lost = 0;
    } catch (error) {
      this.#lost += entries.length;
      this.#deps.logger.error(
        { error: String(error), lost: this.#lost },
        "the audit log could not be written",
      );
    }
  }

  async #openFile(): Promise<FileHandle> {
    const { directory, name, rotateBytes } = this.#deps;
    if (this.#file !== null && this.#sizeBytes >= rotateBytes) {
      await this.#file.close();
      this.#file = null;
      await this.#rotate();
    }
    if (this.#file === null) {
      await makeDirectory(directory, 0o700);
      this.#file = await open(join(directory, `${name}.jsonl`), "a", 0o600);
      // A file that another program has created may be readable by others.
      await this.#file.chmod(0o600);
      this.#sizeBytes = (await this.#file.stat()).size;
    }
    return this.#file;
  }

  /** Overwrites the oldest file. */
  async #rotate(): Promise<void> {
    const { directory, name, maxFiles } = this.#deps;
    const pathOf = (age: number): string => join(directory, `${name}${age === 0 ? "" : `.${age}`}.jsonl`);
    for (let age = maxFiles - 1; age >= 0; age -= 1) {
      try {
        await rename(pathOf(age), pathOf(age + 1));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      }
    }
  }
}

function toLine({ atMs, entry }: Waiting): string {
  return `{"at":"${new Date(atMs).toISOString()}",${JSON.stringify(entry).slice(1)}\n`;
}
