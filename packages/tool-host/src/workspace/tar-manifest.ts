import { ByteReader, readNumber, readText } from "./tar-entries.ts";

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
): AsyncGenerator<Buffer> {
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
    yield* reader.pieces(Math.ceil(sizeBytes / blockBytes) * blockBytes);
  }
  await reader.drain();
  const text = Buffer.from(await describe({ files, bytes }));
  if (!isThere) yield entryOf(name, text);
  yield Buffer.alloc(2 * blockBytes);
}

function entryOf(name: string, content: Buffer): Buffer {
  const path = Buffer.from(name);
  const blocks = Math.ceil(content.length / blockBytes);
  const file = Buffer.concat([headerOf(path, content.length, "0"), content], (blocks + 1) * blockBytes);
  if (path.length <= 100) return file;
  // A longer name is an entry of its own before it.
  const whole = Buffer.concat([path, Buffer.alloc(1)]);
  const longBlocks = Math.ceil(whole.length / blockBytes);
  const long = headerOf(Buffer.from("././@LongLink"), whole.length, "L");
  return Buffer.concat([Buffer.concat([long, whole], (longBlocks + 1) * blockBytes), file]);
}

function headerOf(name: Buffer, sizeBytes: number, type: string): Buffer {
  const header = Buffer.alloc(blockBytes);
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, "0")}\0`;
  name.copy(header, 0, 0, 100);
  header.write(octal(0o644, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(sizeBytes, 11), 124);
  header.write(octal(0, 11), 136);
  header.write(" ".repeat(8), 148);
  header.write(type, 156);
  header.write("ustar  \0", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)} `, 148);
  return header;
}
