import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

/** The part of a package.json that publishing needs. */
type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly license: string;
  readonly engines?: Readonly<Record<string, string>>;
  readonly workspaces?: readonly string[];
  readonly exports?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
};

function readManifest(directory: string): Manifest {
  return JSON.parse(readFileSync(path.join(directory, "package.json"), "utf8")) as Manifest;
}

/** The manifest of the published command: npm dependencies of all workspaces with their exact versions. */
export function commandManifest(root: string): Readonly<Record<string, unknown>> & {
  readonly dependencies: Readonly<Record<string, string>>;
} {
  const { version, description, license, engines, workspaces = [] } = readManifest(root);
  const manifests = workspaces
    .map((folder) => path.join(root, folder))
    .filter((directory) => existsSync(path.join(directory, "package.json")))
    .map(readManifest);
  return {
    name: "convoke",
    version,
    description,
    license,
    type: "module",
    engines,
    bin: { convoke: "lib/bin.js" },
    files: ["lib"],
    dependencies: mergeDependencies(manifests),
  };
}

/** The manifest of a published library: its entries as compiled JavaScript with types beside them. */
export function libraryManifest(root: string, folder: string): Readonly<Record<string, unknown>> {
  const {
    name,
    version,
    description,
    license,
    exports = {},
    dependencies,
  } = readManifest(path.join(root, "packages", folder));
  const compiled = Object.entries(exports).map(([subpath, source]) => {
    const base = source.replace("./src/", "./lib/").replace(/\.ts$/, "");
    return [subpath, { types: `${base}.d.ts`, default: `${base}.js` }] as const;
  });
  return {
    name,
    version,
    description,
    license,
    type: "module",
    sideEffects: false,
    exports: Object.fromEntries(compiled),
    files: ["lib"],
    dependencies,
  };
}

function mergeDependencies(manifests: readonly Manifest[]): Record<string, string> {
  const own = new Set(manifests.map(({ name }) => name));
  const merged = new Map<string, string>();
  for (const { name: user, dependencies = {} } of manifests) {
    for (const [name, version] of Object.entries(dependencies)) {
      if (own.has(name)) continue;
      const known = merged.get(name);
      if (known !== undefined && known !== version) {
        throw new Error(`${user} wants ${name} ${version}, another package wants ${known}`);
      }
      merged.set(name, version);
    }
  }
  return Object.fromEntries([...merged].toSorted(([left], [right]) => left.localeCompare(right)));
}
