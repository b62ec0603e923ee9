import { Readable } from "node:stream";
import { firstZipTimeMs, openZipWriter } from "@convoke/tool-host";

/** One file of an archive; its content is in memory while it is written. */
export type ZipEntry = { readonly name: string; readonly content: Uint8Array };

const readableFile = 0o100_644;

/**
 * Entries as a ZIP archive, written while it is read; the same content gives the same archive. Fails beyond 65,535 entries or 4 GiB,
 * which the plain form of the format cannot hold.
 */
export function zipStream(entries: AsyncIterable<ZipEntry>): Readable {
  return Readable.from(writeZip(entries), { objectMode: false });
}

async function* writeZip(entries: AsyncIterable<ZipEntry>): AsyncGenerator<Uint8Array> {
  const zip = await openZipWriter();
  for await (const { name, content } of entries) {
    yield* zip.add({ name, content, mode: readableFile, modifiedAtMs: firstZipTimeMs });
  }
  yield* zip.end();
}
