import { mkdtemp, open, rm, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where a text stands in a {@link SpooledFile}. */
export type Place = { readonly offset: number; readonly length: number };

/** A temporary file without a name: it is gone with the process, however that ends. */
export class SpooledFile implements AsyncDisposable {
  readonly #file: FileHandle;
  #length = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(): Promise<SpooledFile> {
    const folder = await mkdtemp(join(tmpdir(), "convoke-import-"));
    try {
      return new SpooledFile(await open(join(folder, "spool"), "wx+", 0o600));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  get fd(): number {
    return this.#file.fd;
  }

  get length(): number {
    return this.#length;
  }

  /** Writes behind what is there. */
  async append(bytes: Uint8Array): Promise<Place> {
    const offset = this.#length;
    // Reads name their place, so the file stands at its end.
    await this.#file.writeFile(bytes);
    this.#length += bytes.length;
    return { offset, length: bytes.length };
  }

  async read({ offset, length }: Place): Promise<Buffer> {
    const bytes = Buffer.alloc(length);
    let done = 0;
    while (done < length) {
      const { bytesRead } = await this.#file.read(bytes, done, length - done, offset + done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return bytes.subarray(0, done);
  }

  /** From the beginning to the end. */
  async *chunks(): AsyncGenerator<Buffer> {
    for (let offset = 0; offset < this.#length; offset += chunkBytes)
      yield await this.read({ offset, length: Math.min(chunkBytes, this.#length - offset) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}

const chunkBytes = 256 * 1024;
