import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { tarEntries } from "@convoke/tool-host";
import { Fault } from "../lib/fault.ts";
import type { ArchiveEntry } from "./archive-entry.ts";
import { isGzip, isTar, isZip } from "./archive-type.ts";
import type { ImportLimits } from "./import-limits.ts";
import { unreadableUpload, uploadTooLarge } from "./import-refusal.ts";
import type { SpooledFile } from "./spooled-file.ts";
import { zipEntries } from "./zip-entries.ts";

/** The files of a zip, a tar or a compressed tar, or the upload itself where it is neither. Its own name is `name`. */
export async function* archiveEntries(
  upload: SpooledFile,
  name: string,
  limits: ImportLimits,
): AsyncGenerator<ArchiveEntry> {
  const head = await upload.read({ offset: 0, length: Math.min(512, upload.length) });
  if (isZip(head)) yield* zipEntries(upload);
  else if (isTar(head)) yield* tarFiles(upload.chunks());
  else if (isGzip(head)) yield* unpacked(upload, name, limits);
  else yield { name, isFile: true, content: () => upload.chunks() };
}

/** A compressed tar, or one compressed file. */
async function* unpacked(
  upload: SpooledFile,
  name: string,
  limits: ImportLimits,
): AsyncGenerator<ArchiveEntry> {
  const inner = bounded(Readable.from(upload.chunks()).pipe(createGunzip()), limits.unpackedBytes);
  const iterator = inner[Symbol.asyncIterator]();
  const held: Uint8Array[] = [];
  let heldBytes = 0;
  while (heldBytes < 512) {
    const next = await readable(() => iterator.next());
    if (next.done === true) break;
    held.push(next.value);
    heldBytes += next.value.length;
  }
  async function* whole(): AsyncGenerator<Uint8Array> {
    yield* held;
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  if (isTar(Buffer.concat(held).subarray(0, 512))) yield* tarFiles(whole());
  else yield { name: name.replace(/\.gz$/i, ""), isFile: true, content: whole };
}

async function* tarFiles(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ArchiveEntry> {
  const entries = tarEntries(chunks)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await readable(() => entries.next());
      if (next.done === true) return;
      const { name, type, content } = next.value;
      if (type !== "directory") yield { name, isFile: type === "file", content: () => content };
    }
  } finally {
    await entries.return(undefined);
  }
}

async function* bounded(chunks: AsyncIterable<Uint8Array>, max: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > max) throw uploadTooLarge(`The archive unpacks to more than ${max} bytes. Send it in parts.`);
    yield chunk;
  }
}

/** The libraries throw plain errors for what is damaged, which is the sender's mistake. */
async function readable<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw unreadableUpload(`The archive is cut or damaged: ${(error as Error).message}`);
  }
}
