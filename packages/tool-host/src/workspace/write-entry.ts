import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { chmod, lstat, open, rename, unlink } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import type { Stats } from "node:fs";
import type { PinnedEntry } from "./root-jail.ts";
import { WorkspaceError } from "./workspace.ts";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/**
 * Writes the content to a file beside the target, which replaces the target when it is complete. An existing file keeps its
 * permissions, unless others are given.
 */
export async function writeEntry(
  entry: PinnedEntry,
  path: string,
  content: AsyncIterable<Uint8Array>,
  mode?: number,
): Promise<void> {
  const before = await statOrNothing(entry.path);
  if (before !== undefined && !before.isFile()) {
    throw new WorkspaceError("not-a-file", `${path} is there already and is not a file.`);
  }
  const temporary = entry.sibling(`.convoke-${randomUUID()}.tmp`);
  const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666);
  try {
    try {
      for await (const bytes of content) await writeAll(file, bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    const wanted = mode ?? before?.mode;
    if (wanted !== undefined) await chmod(temporary, wanted & 0o777);
    await rename(temporary, entry.path);
  } catch (error) {
    await unlink(temporary).catch(() => {}); // The original error matters more than a second one.
    throw error;
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let offset = 0; offset < bytes.length;) {
    offset += (await file.write(bytes, offset, bytes.length - offset)).bytesWritten;
  }
}

/** The existing entry, links not followed. */
export async function statOrNothing(path: string): Promise<Stats | undefined> {
  return lstat(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  });
}
