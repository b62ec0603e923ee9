import type { Stats } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { ifThere } from "./if-there.ts";

/**
 * Makes a directory and its missing parents; an existing one is fine. Unlike a recursive mkdir it ends with an error,
 * and not in an endless loop, below file systems that cannot hold directories (such as /proc). Calls `onMade` for each
 * created directory, the outermost first. Resolves with the directory's stats.
 */
export async function makeDirectory(
  path: string,
  mode: number,
  onMade: (directory: string) => Promise<void> = async () => {},
): Promise<Stats> {
  const found = await ifThere(stat(path), null);
  if (found !== null) return refuseFile(found, path);
  const missing = [path];
  for (let at = path, parent = dirname(at); parent !== at; [at, parent] = [parent, dirname(parent)]) {
    if ((await ifThere(stat(parent), null)) !== null) break;
    missing.push(parent);
  }
  for (const directory of missing.toReversed()) {
    try {
      await mkdir(directory, { mode });
      await onMade(directory);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
  return refuseFile(await stat(path), path);
}

function refuseFile(found: Stats, path: string): Stats {
  if (found.isDirectory()) return found;
  throw new Error(`${path} is a file, not a directory`);
}
