/** One entry of a tar file. Its content is read before the next entry is asked for; what was not read is passed over. */
export type TarEntry = {
  readonly name: string;
  readonly type: "file" | "directory" | "link" | "other";
  readonly sizeBytes: number;
  readonly mode: number;
  readonly modifiedAtMs: number;
  /** Where a symbolic link leads. */
  readonly target: string;
  readonly content: AsyncIterable<Buffer>;
};

const blockBytes = 512;
/** Longer names than any file system has. */
const mostNameBytes = 64 * 1024;
const types: Readonly<Record<string, TarEntry["type"]>> = {
  "\0": "file",
  "0": "file",
  "2": "link",
  "5": "directory",
};

/** The entries of what `tar --format=gnu` writes. Source: GNU tar 1.34, "Basic Tar Format". */
export async function* tarEntries(tar: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  await using reader = new ByteReader(tar);
  let longName: string | null = null;
  let longTarget: string | null = null;
  for (;;) {
    const header = await reader.take(blockBytes);
    if (header.every((byte) => byte === 0)) return reader.drain();
    const sizeBytes = readNumber(header.subarray(124, 136));
    const padding = (blockBytes - (sizeBytes % blockBytes)) % blockBytes;
    const type = String.fromCharCode(header[156]!);
    if (type === "L" || type === "K") {
      if (sizeBytes > mostNameBytes) throw new Error("A name in the tar file is too long.");
      const text = readText(await reader.take(sizeBytes));
      await reader.take(padding);
      if (type === "L") longName = text;
      else longTarget = text;
      continue;
    }
    let left = sizeBytes;
    const content = reader.pieces(sizeBytes, (length) => (left -= length));
    yield {
      name: longName ?? readText(header.subarray(0, 100)),
      type: types[type] ?? "other",
      sizeBytes,
      mode: readNumber(header.subarray(100, 108)) & 0o7777,
      modifiedAtMs: readNumber(header.subarray(136, 148)) * 1_000,
      target: longTarget ?? readText(header.subarray(157, 257)),
      content,
    };
    for await (const piece of reader.pieces(left)) void piece;
    await reader.take(padding);
    longName = null;
    longTarget = null;
  }
}

export function readText(field: Buffer): string {
  const end = field.indexOf(0);
  return field.subarray(0, end === -1 ? field.length : end).toString("utf8");
}

/** Octal digits, or, for what these cannot hold, a number whose first bit is set. */
export function readNumber(field: Buffer): number {
  if ((field[0]! & 0x80) === 0) return Number.parseInt(readText(field).trim() || "0", 8);
  return field.subarray(1).reduce((value, byte) => value * 256 + byte, field[0]! & 0x7f);
}

/** Reads a stream in the lengths that its reader wants. */
export class ByteReader implements AsyncDisposable {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async take(length: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of this.pieces(length)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  async *pieces(length: number, onPiece?: (length: number) => void): AsyncGenerator<Buffer> {
    let left = length;
    while (left > 0) {
      if (this.#rest.length === 0) {
        const { done, value } = await this.#source.next();
        if (done === true) throw new Error("The tar file ends too early.");
        this.#rest = value;
      }
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      onPiece?.(piece.length);
      yield piece;
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
