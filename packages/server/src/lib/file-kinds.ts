import { lstat, stat } from "node:fs/promises";

// All of these are false for what is missing, and for what this user may not see.

/** False for a link. */
export async function isRegularFile(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.isFile() === true;
}

/** False for a link. */
export async function isSocket(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.isSocket() === true;
}

/** True also for a link to one. */
export async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() === true;
}
