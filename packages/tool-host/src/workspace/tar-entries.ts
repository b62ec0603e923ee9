import { ReadableStream, type ReadableWritablePair } from "node:stream/web";
import type { ParsedTarEntry, TarHeader } from "modern-tar";

/** One entry of a tar file. Its content is read before the next entry is asked for; what was not read is passed over. */
export type TarEntry = {
  readonly name: string;
  readonly type: "file" | "directory" | "link" | "other";
  readonly sizeBytes: number;
  readonly mode: number;
  readonly modifiedAtMs: number;
  /** Where a symbolic link leads. */
  readonly target: string;
  readonly content: AsyncIterable<Uint8Array>;
};

const types: Readonly<Partial<Record<string, TarEntry["type"]>>> = {
  file: "file",
  directory: "directory",
  symlink: "link",
};

/** The entries of a tar file; throws for one that is cut or damaged. The library is loaded with the first archive. */
export async function* tarEntries(tar: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const { createTarDecoder } = await import("modern-tar");
  // Its types are those of browsers.
  const decoder = createTarDecoder({ strict: true }) as ReadableWritablePair<ParsedTarEntry, Uint8Array>;
  const entries = ReadableStream.from(tar).pipeThrough(decoder);
  for await (const { header, body } of entries) {
    yield toEntry(header, body);
    await body.cancel();
  }
}

function toEntry(header: TarHeader, content: AsyncIterable<Uint8Array>): TarEntry {
  const { name, type = "file", size, mode = 0o644, mtime, linkname = "" } = header;
  return {
    name,
    type: types[type] ?? "other",
    sizeBytes: size,
    mode: mode & 0o7777,
    modifiedAtMs: mtime?.getTime() ?? 0,
    target: linkname,
    content,
  };
}
