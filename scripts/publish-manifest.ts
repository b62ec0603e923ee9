import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { nodePackageName, nodePlatforms } from "./node-platforms.ts";
import { unbundledPackages } from "./unbundled-packages.ts";

/** The fields of a package.json that publishing needs. */
type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly license: string;
  readonly keywords?: readonly string[];
  readonly repository?: { readonly type: string; readonly url: string };
  readonly engines?: Readonly<Record<string, string>>;
  readonly workspaces?: readonly string[];
  readonly exports?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
};

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
  const { version, description, devDependencies = {}, ...workspace } = readManifest(root);
  const installed = Object.entries(npmDependencies(root)).filter(([name]) =>
    unbundledPackages.includes(name),
  );
  return {
    name: "convoke",
    version,
    description,
    ...publicFields(workspace),
    type: "module",
    // Node version for the launcher; the command itself runs on the Node that is installed with it.
    engines: { node: ">=18" },
    bin: { convoke: "lib/launch.cjs" },
    // Source maps are a file of the release: they are a third of all, and names are in stack traces without them.
    files: ["lib", "!**/*.map", "web", "docs", "THIRD-PARTY-NOTICES.txt"],
    dependencies: Object.fromEntries(installed),
    ...nodeItself(devDependencies["node"]),
  };
}

/** Packages with a Node program, see `build-node-package.ts`; npm installs the one for its platform. They run no install scripts. */
function nodeItself(version: string | undefined): object {
  if (version === undefined) return {};
  const packages = nodePlatforms.map((platform) => [nodePackageName(platform), version]);
  return { optionalDependencies: Object.fromEntries(packages) };
}

/** The manifest of a published library: its entries as compiled JavaScript with types beside them, without test doubles. */
export function libraryManifest(root: string, folder: string): Readonly<Record<string, unknown>> {
  const {
    name,
    version,
    description,
    exports = {},
    dependencies,
  } = readManifest(path.join(root, "packages", folder));
  const published = Object.entries(exports).filter(
    ([subpath, source]) => !subpath.startsWith("./testing") && !source.includes("/testing/"),
  );
  const compiled = published.map(([subpath, source]) => {
    const base = source.replace("./src/", "./lib/").replace(/\.ts$/, "");
    return [subpath, { types: `${base}.d.ts`, default: `${base}.js` }] as const;
  });
  return {
    name,
    version,
    description,
    ...publicFields(readManifest(root), `packages/${folder}`),
    type: "module",
    sideEffects: false,
    engines: { node: ">=22" },
    exports: Object.fromEntries(compiled),
    files: ["lib"],
    dependencies,
  };
}

/**
 * What every published package says of itself; `directory` is its folder in the repository. Without a repository in the workspace's
 * manifest no package names one: `set-repository.ts` writes it at a release.
 */
export function publicFields(
  { license, keywords, repository }: Omit<Manifest, "name" | "version">,
  directory?: string,
): object {
  const place =
    repository === undefined || directory === undefined ? repository : { ...repository, directory };
  return {
    license,
    keywords,
    repository: place,
    // A scoped package is private unless it says so.
    publishConfig: { access: "public" },
  };
}

/** The workspace's manifest, with the fields that all packages share. */
export function readManifest(directory: string): Manifest {
  return JSON.parse(readFileSync(path.join(directory, "package.json"), "utf8")) as Manifest;
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
