/** What an archive has besides its folders and links. */
export type ArchiveCounts = { readonly files: number; readonly bytes: number };

const blockBytes = 512;

/**
 * A tar file as it is, with one more file at its end, which `describe` writes about the others; without it where there is one of its name.
 * Source: GNU tar 1.34, "Basic Tar Format".
 */
export async function* withLastEntry(
  tar: AsyncIterable<Buffer>,
  name: string,
  describe: (counts: ArchiveCounts) => Promise<string>,
): AsyncGenerator<Uint8Array> {
  await using reader = new ByteReader(tar);
  let files = 0;
  let bytes = 0;
  let isThere = false;
  for (;;) {
    const header = await reader.take(blockBytes);
    if (header.every((byte) => byte === 0)) break;
    yield header;
    const sizeBytes = readNumber(header.subarray(124, 136));
    const type = String.fromCharCode(header[156]!);
    if (type === "0" || type === "\0") {
      files += 1;
      bytes += sizeBytes;
    }
    isThere ||= readText(header.subarray(0, 100)) === name;
    yield* reader.chunks(Math.ceil(sizeBytes / blockBytes) * blockBytes);
  }
  await reader.drain();
  const text = Buffer.from(await describe({ files, bytes }));
  if (isThere) yield Buffer.alloc(2 * blockBytes);
  else yield await archiveOf(name, text);
}

/** One file and the end of an archive. */
async function archiveOf(name: string, content: Buffer): Promise<Uint8Array> {
  const { packTar } = await import("modern-tar");
  return packTar([{ header: { name, size: content.length, mtime: new Date(0) }, body: content }]);
}

function readText(field: Buffer): string {
  const end = field.indexOf(0);
  return field.subarray(0, end === -1 ? field.length : end).toString("utf8");
}

/** Octal digits, or, for what these cannot hold, a number whose first bit is set. */
function readNumber(field: Buffer): number {
  if ((field[0]! & 0x80) === 0) return Number.parseInt(readText(field).trim() || "0", 8);
  return field.subarray(1).reduce((value, byte) => value * 256 + byte, field[0]! & 0x7f);
}

/** Reads a stream in the lengths that its reader wants. */
class ByteReader implements AsyncDisposable {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async take(length: number): Promise<Buffer> {
    return Buffer.concat(await Array.fromAsync(this.chunks(length)));
  }

  async *chunks(length: number): AsyncGenerator<Buffer> {
    let left = length;
    while (left > 0) {
      if (this.#rest.length === 0) {
        const { done, value } = await this.#source.next();
        if (done === true) throw new Error("The tar file ends too early.");
        this.#rest = value;
      }
      const chunk = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(chunk.length);
      left -= chunk.length;
      yield chunk;
    }
  }

  /** What follows the end of the entries fills the last block; who writes it must get rid of it. */
  async drain(): Promise<void> {
    while ((await this.#source.next()).done !== true) this.#rest = Buffer.alloc(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#source.return?.();
  }
}
