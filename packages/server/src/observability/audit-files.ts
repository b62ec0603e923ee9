import { open, readdir, stat, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { parseFile } from "./audit-place.ts";
import { ifThere } from "../lib/if-there.ts";

/** A file of a stream, open to be read. */
export type AuditFile = { readonly name: string; readonly age: number; readonly handle: FileHandle };

/** A server that rotates its files while they are opened is met again hardly ever. */
const maxTries = 20;

/**
 * Opens all files of each stream, the oldest first, as they are at one moment: a server may rotate them meanwhile. The
 * caller closes them with `scope`.
 */
export async function openAuditFiles(
  directory: string,
  scope: AsyncDisposableStack,
): Promise<ReadonlyMap<string, readonly AuditFile[]>> {
  for (let tries = 1; ; tries += 1) {
    await using attempt = new AsyncDisposableStack();
    const before = await listFiles(directory);
    const files = new Map<string, AuditFile[]>();
    for (const { name, stream, age } of before) {
      const handle = await ifThere(open(join(directory, name), "r"), null);
      if (handle === null) continue;
      attempt.use(handle);
      files.set(stream, [...(files.get(stream) ?? []), { name, age, handle }]);
    }
    const isSteady = JSON.stringify(before) === JSON.stringify(await listFiles(directory));
    if (isSteady) {
      scope.use(attempt.move());
      return files;
    }
    if (tries === maxTries) throw new Error(`The files in ${directory} change too often to be read.`);
  }
}

type Listed = {
  readonly name: string;
  readonly stream: string;
  readonly age: number;
  readonly inode: number;
};

/** By stream, the oldest first. */
async function listFiles(directory: string): Promise<Listed[]> {
  const found: Listed[] = [];
  for (const name of await readdir(directory)) {
    const parsed = parseFile(name);
    if (parsed === null) continue;
    const stats = await ifThere(stat(join(directory, name)), null);
    if (stats !== null) found.push({ name, ...parsed, inode: stats.ino });
  }
  return found.toSorted((one, other) => one.stream.localeCompare(other.stream) || other.age - one.age);
}
