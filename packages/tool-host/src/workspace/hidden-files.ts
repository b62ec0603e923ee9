import { realpathSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { processFolder } from "../system/descriptor-path.ts";
import { isInside } from "./is-inside.ts";

/** Files that a workspace serves to nobody, wherever its root is. */
export type HiddenFiles = {
  /** For a real path. */
  readonly hides: (realPath: string) => boolean;
  /** Hidden folders below a directory, as patterns of excluded files. */
  readonly below: (directory: string) => readonly string[];
};

export const nothingHidden: HiddenFiles = { hides: () => false, below: () => [] };

export type HiddenFolderOptions = {
  /** Absolute; it exists. */
  readonly folder: string;
  /** Absolute paths in it, with `*` for one name, whose content is served nevertheless. */
  readonly shown: readonly string[];
};

/** Hides a folder, and what the system tells about this process: its environment and memory. */
export function hideFolder({ folder, shown }: HiddenFolderOptions): HiddenFiles {
  const real = realpathSync(folder);
  const open = shown
    .map((path) => join(real, relative(folder, path)))
    // One around the folder would show all of it.
    .filter((path) => path !== real && isInside(real, path))
    .map(partsOf);
  const ofProcess = processFolder(process.pid);
  return {
    hides: (path) =>
      isInside(ofProcess, path) ||
      (isInside(real, path) && !open.some((parts) => begins(partsOf(path), parts))),
    below: (directory) =>
      directory !== real && isInside(directory, real)
        ? [`/${relative(directory, real).replaceAll(/[*?[\]\\]/g, "\\$&")}`]
        : [],
  };
}

function partsOf(path: string): string[] {
  return path.split(sep);
}

function begins(parts: readonly string[], beginning: readonly string[]): boolean {
  return beginning.every((part, at) => parts[at] !== undefined && (part === "*" || parts[at] === part));
}
