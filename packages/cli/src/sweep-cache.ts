import { lstat, readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";

const maxDays = 30;

/**
 * Removes compiled code of earlier releases, other installations and other versions of Node that was not written for a month:
 * neither Node nor we ever take anything back. What is still in use is compiled and cached again. Only names that a start makes are
 * touched, and nothing behind a link. Never rejects: what cannot be removed stays.
 */
export async function sweepCache(folder: string, nowMs = Date.now()): Promise<void> {
  const before = nowMs - maxDays * 24 * 60 * 60 * 1000;
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    if (name.startsWith("main-")) await removeOld(path, before);
    else if (/^v\d+\./.test(name)) await sweepFolder(path, before);
  }
}

/** One of Node's, which has a file for each module; it goes with its last file. */
async function sweepFolder(folder: string, before: number): Promise<void> {
  for (const name of await namesIn(folder)) await removeOld(join(folder, name), before);
  // One that is in use is not empty.
  await rmdir(folder).catch(() => {});
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await lstat(folder)).isDirectory() ? await readdir(folder) : [];
  } catch {
    // Gone, or not ours to read.
    return [];
  }
}

async function removeOld(path: string, before: number): Promise<void> {
  try {
    const found = await lstat(path);
    if (found.isFile() && found.mtimeMs < before) await rm(path);
  } catch {
    // Another start removed it, or may and we may not.
  }
}
