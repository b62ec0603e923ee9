import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { scanSource } from "../scripts/scan-source.ts";
import { locateSource } from "../scripts/source-location.ts";

const doubles = "packages/server/src/testing";
/** What says which store a test run is about, and what opens it. */
const storeFiles: readonly string[] = [`${doubles}/tested-store.ts`, `${doubles}/test-database.ts`];

/**
 * The tests below the current directory that match `patterns` and cannot open the store that their run is about: their imports lead to
 * none of {@link storeFiles}. Sources are not followed, because they import no test doubles.
 */
export function findStorelessTests(patterns: readonly string[]): string[] {
  const read = new Map<string, readonly string[]>();
  const importsOf = (file: string): readonly string[] => {
    const found = read.get(file) ?? findImports(file);
    read.set(file, found);
    return found;
  };
  return globSync(patterns)
    .map((file) => file.split(path.sep).join("/"))
    .filter((file) => {
      const reached = new Set([file]);
      for (const each of reached) for (const imported of importsOf(each)) reached.add(imported);
      return !storeFiles.some((store) => reached.has(store));
    });
}

/** The tests and doubles that a file imports. */
function findImports(file: string): string[] {
  if (!existsSync(file)) return [];
  return scanSource(readFileSync(file, "utf8")).references.flatMap(({ specifier }) => {
    if (specifier === "@convoke/server/testing") return [`${doubles}/index.ts`];
    if (!specifier.startsWith(".")) return [];
    const imported = path.posix.join(path.posix.dirname(file), specifier);
    const { isTest, isTesting } = locateSource(imported);
    return isTest || isTesting ? [imported] : [];
  });
}
