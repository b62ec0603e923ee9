import type { FileHandle } from "node:fs/promises";

/** A file to read, as long as it was when it was opened. */
export type TailFile = { readonly inode: number; readonly sizeBytes: number; readonly handle: FileHandle };

/** Lines end here in a file; files only grow, so a place stays what it is. */
export type TailPlace = { readonly inode: number; readonly end: number };

/** `at` is the time as the line says it. */
export type TailLine = { readonly at: string; readonly text: string };

const blockBytes = 16 * 1024;

/** Longer ones are passed over: the log writes none. */
const maxLineBytes = 1024 * 1024;

/** Reads the lines of a stream, the last one first. */
export class StreamTail {
  readonly #files: readonly TailFile[];
  #index: number;
  /** What was read and not yet given: it ends at `#end` in its file. */
  #block = Buffer.alloc(0);
  #end: number;

  /** `files` are those of the stream, the newest first; with a `place` only what is before it is read. */
  constructor(files: readonly TailFile[], place: TailPlace | null) {
    this.#files = files;
    this.#index = place === null ? 0 : files.findIndex(({ inode }) => inode === place.inode);
    if (this.#index === -1) this.#index = files.length;
    const sizeBytes = files[this.#index]?.sizeBytes ?? 0;
    this.#end = place === null ? sizeBytes : Math.min(place.end, sizeBytes);
  }

  /** After the line that was read last; null when nothing is left. */
  get place(): TailPlace | null {
    const file = this.#files[this.#index];
    return file === undefined ? null : { inode: file.inode, end: this.#end };
  }

  /** Null for the end; a line without a time has an empty one. */
  async read(): Promise<TailLine | null> {
    for (;;) {
      const file = this.#files[this.#index];
      if (file === undefined) return null;
      const line = await this.#readIn(file);
      if (line !== null) return { at: /^\{"at":"([^"]*)"/.exec(line)?.[1] ?? "", text: line };
      this.#index += 1;
      this.#end = this.#files[this.#index]?.sizeBytes ?? 0;
    }
  }

  async #readIn({ handle }: TailFile): Promise<string | null> {
    for (;;) {
      const length = this.#block.length;
      // The first byte that counts is the one after the line before.
      const start = length < 2 ? 0 : this.#block.lastIndexOf(newline, length - 2) + 1;
      if (start === 0 && this.#end > length && length <= maxLineBytes) {
        await this.#readBlock(handle);
        continue;
      }
      if (length === 0) return null;
      const line = this.#block.subarray(start);
      this.#block = this.#block.subarray(0, start);
      this.#end -= line.length;
      // What has no end is being written, or was cut off, or is not of the log.
      if (line.at(-1) === newline) return line.subarray(0, -1).toString();
    }
  }

  async #readBlock(handle: FileHandle): Promise<void> {
    const blockEnd = this.#end - this.#block.length;
    const size = Math.min(blockBytes, blockEnd);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size), 0, size, blockEnd - size);
    if (bytesRead < size) throw new Error("A file of the audit log became shorter while it was read.");
    this.#block = Buffer.concat([buffer, this.#block]);
  }
}

const newline = 0x0a;
