import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a directory and its missing parents; an existing one is fine. Unlike a recursive mkdir it ends with an error, and
 * not in an endless loop, below file systems that cannot hold directories (such as /proc).
 */
export async function makeDirectory(path: string, mode: number): Promise<void> {
  const missing: string[] = [];
  for (let parent = path; !(await isThere(parent)); parent = dirname(parent)) {
    missing.push(parent);
    if (dirname(parent) === parent) break;
  }
  for (const directory of missing.toReversed()) {
    try {
      await mkdir(directory, { mode });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
  if (!(await stat(path)).isDirectory()) throw new Error(`${path} is a file, not a directory`);
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
