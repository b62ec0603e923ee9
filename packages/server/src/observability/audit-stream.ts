import { open, readFile, rename, stat, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { beforeFirst, chainLine, parseChained, type Link } from "./audit-chain.ts";
import type { AuditHead, AuditHeads } from "./audit-heads.ts";
import { fileOf } from "./audit-place.ts";
import { continueFrom, lastLineOf, wholeLines } from "./audit-recovery.ts";
import { ifThere } from "../lib/if-there.ts";

export type AuditStreamDeps = {
  readonly directory: string;
  readonly stream: string;
  readonly heads: AuditHeads;
  /** The size of a file at which a new one is begun. */
  readonly rotateBytes: number;
  /** How many older files are retained. */
  readonly maxFiles: number;
};

/** Letters of a half line that are kept; with all of them, one that is cut off in turn would become ever longer. */
const maxRest = 1_000;

/** The files of one stream, to which one process adds lines. After a failure it must be closed and opened again. */
export class AuditStream implements AsyncDisposable {
  readonly #deps: AuditStreamDeps;
  #file: FileHandle;
  #sizeBytes: number;
  #last: Link;
  #start: Link;

  private constructor(deps: AuditStreamDeps, opened: Opened) {
    this.#deps = deps;
    this.#file = opened.file;
    this.#sizeBytes = opened.sizeBytes;
    this.#last = opened.last;
    this.#start = opened.start;
  }

  /**
   * Continues the stream. `known` is its last line as this process has written it; null: the sealed head counts. Resolves
   * also with a half line that was cut off, and with what does not fit; both have to be written.
   */
  static async open(
    deps: AuditStreamDeps,
    known: AuditHead | null,
  ): Promise<{ readonly stream: AuditStream; readonly rest: string; readonly problem: string | null }> {
    const file = await openToAdd(pathOf(deps, 0));
    let stream: AuditStream | null = null;
    try {
      const bytes = await file.readFile();
      const text = wholeLines(bytes);
      if (text.length < bytes.length) await file.truncate(text.length);
      const olderText = wholeLines(await readOrEmpty(pathOf(deps, 1)));
      const sealed = deps.heads.find(deps.stream);
      const { last, problem, isUnchained } = continueFrom({ text, olderText, head: known ?? sealed });
      const start = sealed === null || sealed === "unsealed" ? beforeFirst : sealed.start;
      stream = new AuditStream(deps, { file, sizeBytes: text.length, last, start });
      if (isUnchained) await stream.#beginFile();
      // From now on the stream cannot be taken away unseen. A head would hide a break that is not written yet.
      if (sealed === null && problem === null) await stream.seal();
      return { stream, rest: bytes.subarray(text.length).toString().slice(0, maxRest), problem };
    } catch (error) {
      await (stream?.[Symbol.asyncDispose]() ?? file.close());
      throw error;
    }
  }

  /** The last line that was written. */
  get head(): AuditHead {
    return { stream: this.#deps.stream, start: this.#start, ...this.#last };
  }

  /** Adds lines: JSON objects without the closing brace. */
  async write(opens: readonly string[]): Promise<void> {
    await this.#requireFile();
    if (this.#sizeBytes >= this.#deps.rotateBytes) await this.#rotate();
    let last = this.#last;
    const lines = opens.map((opened) => {
      const { line, link } = chainLine(last, opened);
      last = link;
      return line;
    });
    const bytes = Buffer.from(lines.join(""));
    try {
      await this.#file.appendFile(bytes);
    } catch (error) {
      // All of these lines count as lost. Where this fails as well, the next opening finds a half line.
      await this.#file.truncate(this.#sizeBytes).catch(() => {});
      throw error;
    }
    this.#sizeBytes += bytes.length;
    this.#last = last;
  }

  /** Seals the last line, once it is on the disk. */
  async seal(): Promise<void> {
    const { head } = this;
    await this.#file.datasync();
    await this.#deps.heads.save(head);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }

  /** Lines in a file that was removed or replaced would be lost unseen. */
  async #requireFile(): Promise<void> {
    const path = pathOf(this.#deps, 0);
    const [open, found] = [await this.#file.stat(), await ifThere(stat(path), null)];
    if (found?.ino === open.ino && found.dev === open.dev) return;
    throw new Error(`The file ${path} was removed or replaced.`);
  }

  /** The oldest file goes. Its end is sealed as the start first: a crash after that leaves lines too many, none too few. */
  async #rotate(): Promise<void> {
    const { maxFiles } = this.#deps;
    const removed = lastLineOf(wholeLines(await readOrEmpty(pathOf(this.#deps, maxFiles))));
    const link = removed === null ? null : parseChained(removed);
    if (link !== null) this.#start = { n: link.n, h: link.h };
    await this.seal();
    await this.#beginFile();
  }

  async #beginFile(): Promise<void> {
    for (let age = this.#deps.maxFiles - 1; age >= 0; age -= 1) {
      await ifThere(rename(pathOf(this.#deps, age), pathOf(this.#deps, age + 1)), null);
    }
    const file = await openToAdd(pathOf(this.#deps, 0));
    await this.#file.close();
    this.#file = file;
    this.#sizeBytes = 0;
  }
}

type Opened = {
  readonly file: FileHandle;
  readonly sizeBytes: number;
  readonly last: Link;
  readonly start: Link;
};

function pathOf({ directory, stream }: AuditStreamDeps, age: number): string {
  return join(directory, fileOf(stream, age));
}

async function openToAdd(path: string): Promise<FileHandle> {
  const file = await open(path, "a+", 0o600);
  // A file that another program has created may be readable by others.
  await file.chmod(0o600);
  return file;
}

async function readOrEmpty(path: string): Promise<Buffer> {
  return await ifThere(readFile(path), Buffer.alloc(0));
}
