import { createHash, randomUUID, type Hash } from "node:crypto";
import { mkdir, open, rename, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { clipText, fullTextNotice, fullTextPath, shortNotice, textLimits } from "../../text/truncate.ts";

export type OutputLogDeps = {
  /** Directory for complete outputs; created for the first long output. */
  readonly directory: string;
  /** Called with true when writing to disk falls behind, and with false when it has caught up. */
  readonly onBacklog: (isBehind: boolean) => void;
};

const limit = textLimits.terminal;

/** Maximum characters waiting for the disk before the program is paused. */
const maxWaitingCharacters = 2_000_000;

const omittedNotice = "[What was printed before this was not kept.]\n";

/** File name prefix of unfinished files. */
export const unfinishedPrefix = ".terminal-";

/**
 * The output of one call: its beginning and end stay in memory; as soon as it is longer than the shown limit, all of it is also
 * written to a file. Takes text that is already masked.
 */
export class OutputLog {
  readonly #deps: OutputLogDeps;
  #length = 0;
  #isForgotten = false;
  #head = "";
  #tail = "";
  readonly #hash: Hash = createHash("sha256");
  #path: string | undefined;
  #file: FileHandle | undefined;
  #waitingCharacters = 0;
  #writes: Promise<void> = Promise.resolve();
  #failure: unknown;

  constructor(deps: OutputLogDeps) {
    this.#deps = deps;
  }

  /** Number of characters received so far. */
  get length(): number {
    return this.#length;
  }

  /** The last `count` characters, at most the shown limit. */
  newest(count: number): string {
    return (this.#length <= limit ? this.#head : this.#tail).slice(-count);
  }

  /** Drops long output: from then on only the end is stored, and no file. */
  forget(): void {
    if (this.#length <= limit) return;
    this.#isForgotten = true;
    this.#head = "";
    this.#length = limit + 1;
  }

  append(text: string): void {
    if (text === "") return;
    if (this.#isForgotten) {
      this.#length += text.length;
      this.#keepTail(text);
      return;
    }
    const isFirstSpill = this.#length <= limit && this.#length + text.length > limit;
    if (isFirstSpill) this.#spill(this.#head);
    this.#length += text.length;
    if (this.#head.length < limit) this.#head += text.slice(0, limit - this.#head.length);
    this.#keepTail(text);
    if (this.#length > limit) this.#spill(text);
  }

  /** Ends the log and returns the shown text: all of it, or head and tail around a notice that names the file. */
  async finish(): Promise<string> {
    if (this.#length <= limit) return this.#head;
    if (this.#isForgotten) {
      await this.discard();
      return `${omittedNotice}${this.#tail.slice(-limit)}`;
    }
    await this.#writes;
    const path = await this.#keepFile();
    const notice = path === undefined ? shortNotice : fullTextNotice(this.#head, limit, path);
    return clipText(this.#head + this.#tail, limit, notice);
  }

  /** Ends the log and removes its file. */
  async discard(): Promise<void> {
    await this.#writes;
    await this.#file?.close();
    this.#file = undefined;
    if (this.#path !== undefined) await rm(this.#path, { force: true });
  }

  #keepTail(text: string): void {
    // Cut only now and then, so that many small chunks do not each copy the tail.
    this.#tail = text.length >= limit ? text.slice(-limit) : this.#tail + text;
    if (this.#tail.length > 4 * limit) this.#tail = this.#tail.slice(-limit);
  }

  #spill(text: string): void {
    this.#waitingCharacters += text.length;
    if (this.#waitingCharacters > maxWaitingCharacters) this.#deps.onBacklog(true);
    this.#writes = this.#writes.then(() => this.#write(text));
  }

  async #write(text: string): Promise<void> {
    try {
      if (this.#failure === undefined) {
        this.#hash.update(text, "utf8");
        this.#file ??= await this.#openFile();
        await this.#file.appendFile(text, "utf8");
      }
    } catch (error) {
      // A full disk must not fail the command: the output is then shown without a file.
      this.#failure = error;
    }
    this.#waitingCharacters -= text.length;
    if (this.#waitingCharacters === 0) this.#deps.onBacklog(false);
  }

  async #openFile(): Promise<FileHandle> {
    await mkdir(this.#deps.directory, { recursive: true });
    this.#path = join(this.#deps.directory, `${unfinishedPrefix}${process.pid}-${randomUUID()}`);
    return open(this.#path, "w", 0o600);
  }

  async #keepFile(): Promise<string | undefined> {
    if (this.#failure !== undefined || this.#path === undefined) {
      await this.discard();
      return undefined;
    }
    await this.#file?.close();
    this.#file = undefined;
    const path = fullTextPath(this.#deps.directory, "terminal", this.#hash.digest("hex"));
    await rename(this.#path, path);
    return path;
  }
}
