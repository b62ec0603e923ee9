import type { TarEntry } from "./tar-entries.ts";
import { firstZipTimeMs, openZipWriter, type ZipFile } from "./zip-writer.ts";

/** What may come behind the files: headers, and data that does not get smaller. */
const reserveBytes = 64 * 1024 * 1024;

const kinds = { file: 0o100_000, directory: 0o040_000, link: 0o120_000 };

/**
 * Entries as a ZIP archive, written while they are read. What the format cannot hold is left out; `noteOf` gets it
 * at the end, and the text that it gives is the last entry.
 */
export async function* zipOfEntries(
  entries: AsyncIterable<TarEntry>,
  noteOf: (leftOut: readonly string[]) => Promise<{ readonly name: string; readonly text: string } | null>,
): AsyncGenerator<Uint8Array> {
  const zip = await openZipWriter();
  const leftOut: string[] = [];
  for await (const entry of entries) {
    const file = toZipFile(entry);
    if (file === null) leftOut.push(`${entry.name}: neither a file nor a directory nor a link`);
    // One more file is the note.
    else if (zip.hasRoomFor(entry.sizeBytes + reserveBytes, 2)) yield* zip.add(file);
    else leftOut.push(`${entry.name}: no more room in a ZIP archive`);
  }
  const note = await noteOf(leftOut);
  if (note !== null) {
    const content = Buffer.from(note.text);
    yield* zip.add({
      name: note.name,
      content,
      mode: kinds.file | 0o644,
      modifiedAtMs: firstZipTimeMs,
    });
  }
  yield* zip.end();
}

function toZipFile({ type, name, target, mode, modifiedAtMs, content }: TarEntry): ZipFile | null {
  if (type === "other") return null;
  return {
    name: type === "directory" ? `${name.replace(/\/*$/, "")}/` : name,
    content: type === "file" ? content : Buffer.from(type === "link" ? target : ""),
    mode: kinds[type] | mode,
    modifiedAtMs,
  };
}
