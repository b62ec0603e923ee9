import type { Entry, ZipFile } from "yauzl";
import type { ArchiveEntry } from "./archive-entry.ts";
import { unreadableUpload } from "./import-refusal.ts";
import type { SpooledFile } from "./spooled-file.ts";

/** Type bits of a symbolic link in the attributes that Unix writes. */
const linkType = 0o12;

/**
 * The files of a zip, by the directory at its end. The library refuses names that lead out of the archive, and content of another
 * length than announced; it is loaded with the first archive. The file stays open.
 */
export async function* zipEntries(upload: SpooledFile): AsyncGenerator<ArchiveEntry> {
  const { fromFdPromise } = (await import("yauzl")).default;
  const options = { autoClose: false, strictFileNames: true, validateEntrySize: true };
  const zip = await fromFdPromise(upload.fd, options).catch(damaged);
  const entries = zip.eachEntry();
  for (;;) {
    const next = await entries.next().catch(damaged);
    if (next.done === true) return;
    const entry = next.value;
    if (entry.fileName.endsWith("/")) continue;
    const isFile = entry.externalFileAttributes >>> 28 !== linkType && !entry.isEncrypted();
    yield { name: entry.fileName, isFile, content: () => contentOf(zip, entry) };
  }
}

async function* contentOf(zip: ZipFile, entry: Entry): AsyncGenerator<Uint8Array> {
  const stream = await zip.openReadStreamPromise(entry).catch(damaged);
  try {
    yield* stream as AsyncIterable<Uint8Array>;
  } catch (error) {
    damaged(error);
  } finally {
    stream.destroy();
  }
}

/** The library throws plain errors for what is damaged, which is the sender's mistake. */
function damaged(error: unknown): never {
  throw unreadableUpload(`The zip file is cut or damaged: ${(error as Error).message}.`);
}
