import { Readable } from "node:stream";
import { crc32, createDeflateRaw } from "node:zlib";
import type { TarEntry } from "./tar-entries.ts";

/** What the plain form of the format can name: counts of two bytes, places and lengths of four. */
const mostEntries = 0xffff - 1;
const mostBytes = 0xffff_ffff;
/** What may come behind the files: headers, and data that does not get smaller. */
const reserveBytes = 64 * 1024 * 1024;

const signatures = { local: 0x0403_4b50, descriptor: 0x0807_4b50, central: 0x0201_4b50, end: 0x0605_4b50 };
/** Lengths follow the content, and names are UTF-8. */
const flags = 0x0808;
const deflated = 8;
const version = 20;
const madeOnUnix = 3 << 8;
const kinds = { file: 0o100_000, directory: 0o040_000, link: 0o120_000 };

type Written = {
  readonly header: Buffer;
  readonly name: Buffer;
  readonly offset: number;
  readonly mode: number;
};

/**
 * Entries as a ZIP archive, written while they are read. What the format has no room or no form for is left out; `noteOf` is told so
 * at the end, and the text that it gives is the last entry. Source: PKWARE APPNOTE 6.3, sections 4.3 and 4.4.
 */
export async function* zipOfEntries(
  entries: AsyncIterable<TarEntry>,
  noteOf: (leftOut: readonly string[]) => Promise<{ readonly name: string; readonly text: string } | null>,
): AsyncGenerator<Buffer> {
  const written: Written[] = [];
  const leftOut: string[] = [];
  let offset = 0;
  async function* write(entry: TarEntry): AsyncGenerator<Buffer> {
    const { type } = entry;
    if (type === "other")
      return void leftOut.push(`${entry.name}: neither a file nor a directory nor a link`);
    const isTooMuch = offset + entry.sizeBytes > mostBytes - reserveBytes || written.length >= mostEntries;
    if (isTooMuch) return void leftOut.push(`${entry.name}: no more room in a ZIP archive`);
    const name = Buffer.from(type === "directory" ? `${entry.name.replace(/\/*$/, "")}/` : entry.name);
    const start = offset;
    const header = startOf(entry, name.length);
    yield take(numbers([4, signatures.local]));
    yield take(header);
    yield take(name);
    const sums = { crc: 0, packed: 0, plain: 0 };
    const content = type === "file" ? entry.content : [Buffer.from(type === "link" ? entry.target : "")];
    const plain = Readable.from(summed(content, sums), { objectMode: false });
    const packer = plain.pipe(createDeflateRaw());
    plain.once("error", (error) => packer.destroy(error));
    try {
      for await (const piece of packer as AsyncIterable<Buffer>) {
        sums.packed += piece.length;
        yield take(piece);
      }
    } finally {
      plain.destroy();
    }
    const lengths = numbers([4, sums.crc], [4, sums.packed], [4, sums.plain]);
    yield take(Buffer.concat([numbers([4, signatures.descriptor]), lengths]));
    lengths.copy(header, 10);
    written.push({ header, name, offset: start, mode: kinds[type] | entry.mode });
  }
  const take = (piece: Buffer): Buffer => {
    offset += piece.length;
    return piece;
  };
  for await (const entry of entries) yield* write(entry);
  const note = await noteOf(leftOut);
  if (note !== null) yield* write(noteEntry(note));
  const directory = Buffer.concat(written.flatMap(directoryEntry));
  const start = offset;
  yield directory;
  yield numbers(
    ...([
      [4, signatures.end],
      [4, 0],
      [2, written.length],
      [2, written.length],
    ] as const),
    ...([
      [4, directory.length],
      [4, start],
      [2, 0],
    ] as const),
  );
}

async function* summed(
  content: AsyncIterable<Buffer> | Iterable<Buffer>,
  sums: { crc: number; plain: number },
): AsyncGenerator<Buffer> {
  for await (const piece of content) {
    sums.crc = crc32(piece, sums.crc);
    sums.plain += piece.length;
    yield piece;
  }
}

/** What the entry and the directory share, from the version needed to the length of extra fields; sums are written in later. */
function startOf({ modifiedAtMs }: TarEntry, nameLength: number): Buffer {
  const at = new Date(Math.max(modifiedAtMs, Date.UTC(1980)));
  const day = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  const known = [
    [2, version],
    [2, flags],
    [2, deflated],
    [2, time],
    [2, day],
  ] as const;
  return numbers(...known, [4, 0], [4, 0], [4, 0], [2, nameLength], [2, 0]);
}

function directoryEntry({ header, name, offset, mode }: Written): Buffer[] {
  const isDirectory = (mode & 0o170_000) === kinds.directory;
  // Systems without these modes read the one bit that says directory.
  const outer = ((mode << 16) | (isDirectory ? 0x10 : 0)) >>> 0;
  return [
    numbers([4, signatures.central], [2, madeOnUnix | version]),
    header,
    numbers([2, 0], [2, 0], [2, 0], [4, outer], [4, offset]),
    name,
  ];
}

function noteEntry({ name, text }: { readonly name: string; readonly text: string }): TarEntry {
  const bytes = Buffer.from(text);
  const content = Readable.from([bytes]) as AsyncIterable<Buffer>;
  return {
    name,
    type: "file",
    sizeBytes: 0,
    mode: 0o644,
    modifiedAtMs: Date.UTC(1980),
    target: "",
    content,
  };
}

/** Numbers without a sign, each with how many bytes it takes, the lowest byte first. */
function numbers(...fields: readonly (readonly [bytes: 2 | 4, value: number])[]): Buffer {
  const buffer = Buffer.alloc(fields.reduce((sum, [bytes]) => sum + bytes, 0));
  let at = 0;
  for (const [bytes, value] of fields) at = buffer.writeUIntLE(value, at, bytes);
  return buffer;
}
