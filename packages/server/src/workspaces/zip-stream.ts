import { Readable } from "node:stream";
import { crc32, deflateRaw } from "node:zlib";
import { promisify } from "node:util";

/** One file of an archive; its content is in memory while it is written. */
export type ZipEntry = { readonly name: string; readonly content: Uint8Array };

const deflate = promisify(deflateRaw);
const utf8Names = 0x0800;
const deflated = 8;
const version = 20;
/** The first day that the format can name: archives of the same content are the same. */
const firstDay = (1 << 5) | 1;
const mostEntries = 0xffff;
const mostBytes = 0xffff_ffff;

/**
 * Entries as a ZIP archive, written while it is read. Fails beyond 65,535 entries or 4 GiB, which the plain form of the format
 * cannot hold. Source: PKWARE APPNOTE 6.3, sections 4.3 and 4.4.
 */
export function zipStream(entries: AsyncIterable<ZipEntry>): Readable {
  return Readable.from(writeZip(entries), { objectMode: false });
}

async function* writeZip(entries: AsyncIterable<ZipEntry>): AsyncGenerator<Buffer> {
  const directory: Buffer[] = [];
  let offset = 0;
  for await (const { name, content } of entries) {
    const body = await deflate(content);
    const header = entryHeader(name, content, body);
    const local = Buffer.concat([signature(0x0403_4b50), header, Buffer.from(name)]);
    directory.push(directoryEntry(name, header, offset));
    offset += local.length + body.length;
    if (directory.length > mostEntries || offset > mostBytes) {
      throw new RangeError("The archive is too large for the ZIP format.");
    }
    yield local;
    yield body;
  }
  const index = Buffer.concat(directory);
  yield index;
  yield endOfDirectory(directory.length, index.length, offset);
}

/** What the local header and the directory share, from the version needed to the length of extra fields. */
function entryHeader(name: string, content: Uint8Array, body: Uint8Array): Buffer {
  const header = Buffer.alloc(26);
  header.writeUInt16LE(version, 0);
  header.writeUInt16LE(utf8Names, 2);
  header.writeUInt16LE(deflated, 4);
  header.writeUInt16LE(0, 6);
  header.writeUInt16LE(firstDay, 8);
  header.writeUInt32LE(crc32(content), 10);
  header.writeUInt32LE(body.length, 14);
  header.writeUInt32LE(content.length, 18);
  header.writeUInt16LE(Buffer.byteLength(name), 22);
  return header;
}

function directoryEntry(name: string, header: Buffer, offset: number): Buffer {
  const made = Buffer.alloc(2);
  made.writeUInt16LE(version, 0);
  const rest = Buffer.alloc(14);
  rest.writeUInt32LE(offset, 10);
  return Buffer.concat([signature(0x0201_4b50), made, header, rest, Buffer.from(name)]);
}

function endOfDirectory(count: number, length: number, offset: number): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x0605_4b50, 0);
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(length, 12);
  end.writeUInt32LE(offset, 16);
  return end;
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
