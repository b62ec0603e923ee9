import { promisify } from "node:util";
import { crc32, deflateRaw } from "node:zlib";

export type ZipEntry = { readonly name: string; readonly content: Buffer };

const compress = promisify(deflateRaw);

const version = 20;
/** Names are UTF-8. */
const flags = 0x0800;
const deflated = 8;
/** 1 January 1980: the same content gives the same file. */
const [time, date] = [0, 0x21];
const most = 0xffff_ffff;

/** A zip file of less than 4 GiB and 65,535 entries, entry by entry. Source: PKWARE APPNOTE 4.3. */
export async function* zip(entries: AsyncIterable<ZipEntry>): AsyncGenerator<Buffer> {
  const directory: Buffer[] = [];
  let offset = 0;
  for await (const { name, content } of entries) {
    const packed = await compress(content);
    const named = Buffer.from(name);
    const fields = fieldsOf(content, packed, named);
    const local = Buffer.concat([number32(0x0403_4b50), fields, named, packed]);
    directory.push(
      Buffer.concat([
        number32(0x0201_4b50),
        number16(version),
        fields,
        // No comment, first disk, no attributes.
        Buffer.alloc(10),
        number32(offset),
        named,
      ]),
    );
    offset += local.length;
    if (offset > most) throw new Error("The zip file would be larger than 4 GiB.");
    yield local;
  }
  const central = Buffer.concat(directory);
  yield central;
  yield Buffer.concat([
    number32(0x0605_4b50),
    number32(0),
    number16(directory.length),
    number16(directory.length),
    number32(central.length),
    number32(offset),
    number16(0),
  ]);
}

/** What the local header and the directory say in the same words. */
function fieldsOf(content: Buffer, packed: Buffer, name: Buffer): Buffer {
  return Buffer.concat([
    ...[version, flags, deflated, time, date].map(number16),
    ...[crc32(content), packed.length, content.length].map(number32),
    number16(name.length),
    number16(0),
  ]);
}

function number16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function number32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
