import { readdirSync } from "node:fs";
import path from "node:path";

const foldersLeftOut = new Set(["node_modules", "dist", "coverage", "golden", "fixtures"]);

/** Hand-written source files below `folders` of `root`, as sorted slash paths relative to `root`; missing folders count as empty. */
export function listSourceFiles(
  root: string,
  folders: readonly string[],
  extensions: readonly string[],
): string[] {
  return folders
    .flatMap((folder) => listFiles(root, folder))
    .filter((file) => extensions.includes(path.extname(file)) && !isGenerated(file))
    .toSorted();
}

function listFiles(root: string, folder: string): string[] {
  let entries;
  try {
    entries = readdirSync(path.join(root, folder), { withFileTypes: true });
  } catch (error) {
    // Not every package has every folder, and a folder may be removed during the walk.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
  return entries.flatMap((entry) => {
    const file = folder === "." ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return foldersLeftOut.has(entry.name) ? [] : listFiles(root, file);
    return entry.isFile() ? [file] : [];
  });
}

function isGenerated(file: string): boolean {
  return /\.generated\.\w+$|\.d\.ts$/.test(file);
}
