import { randomUUID } from "node:crypto";
import {
  access,
  chmod,
  chown,
  constants,
  link,
  open,
  realpath,
  rename,
  stat,
  unlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Replaces the content of an existing file atomically: readers see the old bytes or the new ones. A symbolic link keeps pointing at
 * the changed file; permission bits, and the owner where allowed, stay.
 */
export async function replaceFile(path: string, bytes: Uint8Array): Promise<void> {
  const target = await realpath(path);
  await access(target, constants.W_OK);
  const before = await stat(target);
  const isReplaced = await withTemporaryFile(target, bytes, before.mode & 0o777, async (temporary) => {
    const { uid, gid } = await stat(temporary);
    if (uid !== before.uid || gid !== before.gid)
      await chown(temporary, before.uid, before.gid).catch(ignoreForeignOwner);
    // After chown, which clears set-id bits; the umask does not apply to bits that the file already had.
    await chmod(temporary, before.mode & 0o7777);
    await rename(temporary, target);
  });
  // A file in a read-only directory, or a mounted file, can only be written in place.
  if (!isReplaced) await writeFile(target, bytes, { flush: true });
}

/** Creates a file with the mode that the umask gives; fails with EEXIST, and changes nothing, when the path exists. */
export async function createFile(path: string, bytes: Uint8Array): Promise<void> {
  const isCreated = await withTemporaryFile(path, bytes, 0o666, async (temporary) => {
    await link(temporary, path);
    await unlink(temporary);
  });
  if (!isCreated) await writeFile(path, bytes, { flag: "wx", flush: true });
}

/** Writes a synced file beside `target` and hands it to `place`; false when this directory or file system does not allow that. */
async function withTemporaryFile(
  target: string,
  bytes: Uint8Array,
  mode: number,
  place: (temporary: string) => Promise<void>,
): Promise<boolean> {
  const temporary = join(dirname(target), `.convoke-${randomUUID()}.tmp`);
  let isMade = false;
  try {
    const file = await open(temporary, "wx", mode);
    isMade = true;
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await place(temporary);
    return true;
  } catch (error) {
    if (isMade) await unlink(temporary).catch(ignoreMissing);
    if (fallbackCodes.has(codeOf(error))) return false;
    throw error;
  }
}

/** Not allowed to create or rename files here, a busy mount point, or a file system without hard links. */
const fallbackCodes = new Set(["EACCES", "EPERM", "EBUSY", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

function ignoreForeignOwner(error: unknown): void {
  if (codeOf(error) !== "EPERM") throw error;
}

function ignoreMissing(error: unknown): void {
  if (codeOf(error) !== "ENOENT") throw error;
}

/** The system error code of whatever was thrown, or an empty string. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
