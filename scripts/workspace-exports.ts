import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";

/** Exports of this repository's packages. */
export type WorkspaceExports = {
  /** Whether the specifier belongs to a package of this repository. */
  owns(specifier: string): boolean;
  /** `packageName` is the folder under `packages/`; `file` is relative to the root, null when the package does not export it. */
  resolve(specifier: string): { readonly packageName: string; readonly file: string | null };
  /** Whether a file, relative to the root, is an entry of its package. */
  isExported(file: string): boolean;
};

type Manifest = { readonly name: string; readonly exports?: Readonly<Record<string, string>> };

/** Reads `packages/<folder>/package.json` of every folder below `root`. */
export function readWorkspaceExports(root: string): WorkspaceExports {
  const packages = new Map<string, { folder: string; entries: Map<string, string> }>();
  for (const folder of readdirSync(path.join(root, "packages"))) {
    const manifestFile = path.join(root, "packages", folder, "package.json");
    if (!existsSync(manifestFile)) continue;
    const manifest = JSON.parse(readFileSync(manifestFile, "utf8")) as Manifest;
    const entries = Object.entries(manifest.exports ?? {}).map(
      ([subpath, target]) => [subpath, path.posix.join("packages", folder, target)] as const,
    );
    packages.set(manifest.name, { folder, entries: new Map(entries) });
  }
  const exportedFiles = new Set([...packages.values()].flatMap(({ entries }) => [...entries.values()]));
  return {
    owns: (specifier) => packages.has(packageOf(specifier)),
    resolve: (specifier) => {
      const name = packageOf(specifier);
      const found = packages.get(name);
      if (found === undefined) throw new Error(`${specifier} belongs to no package of this repository`);
      return {
        packageName: found.folder,
        file: found.entries.get(`.${specifier.slice(name.length)}`) ?? null,
      };
    },
    isExported: (file) => exportedFiles.has(file),
  };
}

/** `@scope/name/deep/path` -> `@scope/name`. */
function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}
