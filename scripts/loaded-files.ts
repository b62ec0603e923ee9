import { readFileSync } from "node:fs";
import path from "node:path";
import { scanSource } from "./scan-source.ts";
import { listSourceFiles } from "./source-files.ts";
import { locateSource } from "./source-location.ts";

/** Files that sources load by address (`new URL("./x", import.meta.url)`), as slash paths relative to the root. */
export type LoadedFiles = {
  /** Entries of workers and child processes. */
  readonly scripts: readonly string[];
  /** Other files: shell scripts, pages, folders. */
  readonly assets: readonly string[];
};

/** Scans the production sources of every package below `root`. Files that test doubles load are not shipped. */
export function findLoadedFiles(root: string): LoadedFiles {
  const sources = listSourceFiles(root, ["packages"], [".ts", ".tsx"]).filter((file) => {
    const { isInSource, isTest, isTesting } = locateSource(file);
    return isInSource && !isTest && !isTesting;
  });
  const targets = sources.flatMap((file) =>
    scanSource(readFileSync(path.join(root, file), "utf8"))
      .references.filter(({ form, specifier }) => form === "url" && isRelative(specifier))
      .map(({ specifier }) => path.posix.join(path.posix.dirname(file), specifier)),
  );
  const unique = [...new Set(targets)].toSorted();
  return {
    scripts: unique.filter((file) => file.endsWith(".ts")),
    assets: unique.filter((file) => !file.endsWith(".ts")),
  };
}

/** Name of a loaded file in the flat output folder: `packages/server/src/journal/worker.ts` -> `server-journal-worker.js`. */
export function outputName(file: string): string {
  return file
    .replace(/^packages\//, "")
    .replace("/src/", "/")
    .replace(/\/$/, "")
    .replaceAll("/", "-")
    .replace(/\.ts$/, ".js");
}

function isRelative(specifier: string): boolean {
  return specifier.startsWith("./") || specifier.startsWith("../");
}
