import { glob, lstat } from "node:fs/promises";
import { join } from "node:path";
import { isBelow } from "./refused-folder.ts";

const maxHidden = 200;

/** Existing files of the folder that a wall shows empty, by their path. `patterns` are globs below the folder, e.g. `.env` or `config/*.key`. */
export async function findHiddenFiles(
  folder: string,
  patterns: readonly string[],
): Promise<Record<string, string>> {
  const hidden: Record<string, string> = {};
  for (const pattern of patterns) {
    for await (const name of glob(pattern, { cwd: folder, exclude: ["**/node_modules/**"] })) {
      const path = join(folder, name);
      if (!isBelow(path, folder) || !(await lstat(path)).isFile()) continue;
      hidden[path] = "";
      if (Object.keys(hidden).length > maxHidden)
        throw new Error(
          `"hide" names more than ${maxHidden} files. Name fewer, or move them to another folder.`,
        );
    }
  }
  return hidden;
}
