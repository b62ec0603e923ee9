import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { ToolHostProgram } from "@convoke/server/sandboxes";

type Manifest = {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};

/** A file of this program; the others are found beside it. */
export const entryFile = realpathSync(fileURLToPath(new URL("./sandbox-host.ts", import.meta.url)));

/** This program as sandboxes run it: the sources of a checkout, or the published package with what is installed beside it. */
export function findToolHostProgram(entry: string = entryFile): ToolHostProgram {
  const folder = dirname(entry);
  const node = realpathSync(process.execPath);
  if (entry.endsWith(".ts")) {
    const root = join(folder, "../../..");
    return { node, root, entry: relative(root, entry), parts: ["package.json", "packages", "node_modules"] };
  }
  const ownPackage = dirname(folder);
  const installed = findDependencies(ownPackage);
  // Node searches directories of this name, so it must exist inside too.
  const holders = installed.map((directory) =>
    directory.slice(0, directory.lastIndexOf(`${sep}node_modules${sep}`)),
  );
  const root = commonParent([ownPackage, ...holders]);
  const files = [join(ownPackage, "package.json"), folder, ...installed];
  return { node, root, entry: relative(root, entry), parts: files.map((file) => relative(root, file)) };
}

/** Directories of everything that the package needs at run time, where Node finds them; what is left out for this platform is not there. */
function findDependencies(directory: string, found = new Set<string>()): string[] {
  const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as Manifest;
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
    const place = findInstalled(directory, name);
    if (place === null || found.has(place)) continue;
    found.add(place);
    findDependencies(place, found);
  }
  return [...found];
}

function findInstalled(from: string, name: string): string | null {
  for (let parent = from; ; parent = dirname(parent)) {
    const place = join(parent, "node_modules", name);
    if (existsSync(join(place, "package.json"))) return place;
    if (dirname(parent) === parent) return null;
  }
}

function commonParent(directories: readonly string[]): string {
  const [first = "", ...rest] = directories.map((directory) => directory.split(sep));
  if (typeof first === "string") return sep;
  const length = first.findIndex((part, index) => rest.some((other) => other[index] !== part));
  return first.slice(0, length === -1 ? first.length : length).join(sep) || sep;
}
