import { join } from "node:path";
import { isBusy, lockFile } from "../database/sqlite-file.ts";
import { makeDirectory } from "../lib/make-directory.ts";
import type { Signer } from "../security/signer.ts";
import { AuditHeads } from "./audit-heads.ts";

/** `calls`, or `calls-2` for the second process that writes at the same time. */
export function streamOf(name: string, writer: number): string {
  return writer === 1 ? name : `${name}-${writer}`;
}

/** `calls.jsonl`, and `calls.1.jsonl` and so on for older ones. */
export function fileOf(stream: string, age: number): string {
  return `${stream}${age === 0 ? "" : `.${age}`}.jsonl`;
}

/** Null for a file of no stream. */
export function parseFile(file: string): { readonly stream: string; readonly age: number } | null {
  const [, stream, age = "0"] = /^([a-z]+(?:-\d+)?)(?:\.(\d+))?\.jsonl$/.exec(file) ?? [];
  return stream === undefined ? null : { stream, age: Number(age) };
}

const headsName = "heads";

export function isHeadsFile(file: string): boolean {
  return /^heads(?:-\d+)?\.json$/.test(file);
}

/** Beyond it something is wrong with the locks. */
const maxWriters = 1000;

/**
 * The folder of the audit log, as one process writes it. Each process has streams of its own: it takes the first number
 * that no other living process has, so that the streams of ended processes are continued.
 */
export class AuditPlace implements Disposable {
  readonly directory: string;
  readonly #signer: Signer;
  #lock: Disposable | null = null;
  #opening: Promise<OpenedPlace> | null = null;

  constructor(directory: string, signer: Signer) {
    this.directory = directory;
    this.#signer = signer;
  }

  /** Opens the folder at the first call, and after a failure at the next one. Somebody may have removed it meanwhile. */
  async open(): Promise<OpenedPlace> {
    await makeDirectory(this.directory, 0o700);
    this.#opening ??= this.#open();
    try {
      return await this.#opening;
    } catch (error) {
      this.#opening = null;
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#lock?.[Symbol.dispose]();
    this.#lock = null;
  }

  async #open(): Promise<OpenedPlace> {
    const writer = this.#claim();
    try {
      const file = join(this.directory, `${streamOf(headsName, writer)}.json`);
      return { writer, heads: await AuditHeads.open(file, this.#signer) };
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  #claim(): number {
    for (let writer = 1; writer <= maxWriters; writer += 1) {
      try {
        const database = lockFile(join(this.directory, `writer-${writer}.lock`), "alone");
        this.#lock = { [Symbol.dispose]: () => database.close() };
        return writer;
      } catch (error) {
        if (!isBusy(error)) throw error;
      }
    }
    throw new Error(`${this.directory} has ${maxWriters} processes that write at the same time`);
  }
}

export type OpenedPlace = {
  /** The number of this process among those that write at the same time, from 1 on. */
  readonly writer: number;
  readonly heads: AuditHeads;
};
