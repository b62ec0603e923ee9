import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { isBelow } from "./refused-folder.ts";
import { isFolder } from "../lib/file-kinds.ts";

export type ToolchainPlaces = {
  readonly home: string;
  readonly dataDir: string;
  /** The server's; only paths of programs are read from it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** Programs that people install in their home, below it. Never whole folders of settings: `.cargo` contains credentials. */
const known = [
  ".nvm/versions",
  ".fnm/node-versions",
  ".local/share/fnm",
  ".pyenv",
  ".rbenv",
  ".cargo/bin",
  ".rustup",
  "go/bin",
  ".local/bin",
  ".local/share/uv",
  ".local/share/mise",
  ".local/share/pnpm",
  ".asdf",
  ".volta",
  ".bun/bin",
  ".deno/bin",
  ".sdkman/candidates",
  ".cache/ms-playwright",
];

/** Variables that name the folder of a toolchain, and what of it is shown. */
const named: Readonly<Record<string, string>> = {
  NVM_DIR: "versions",
  PYENV_ROOT: "",
  CARGO_HOME: "bin",
  RUSTUP_HOME: "",
  GOPATH: "bin",
  GOROOT: "",
  JAVA_HOME: "",
  VOLTA_HOME: "",
};

/** Shown by the system's own folders. */
const systemTrees = ["/usr", "/opt", "/nix", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

function isOfSystem(path: string): boolean {
  return systemTrees.some((tree) => path === tree || isBelow(path, tree));
}

/** Existing folders of programs outside of the system's own, to be shown read-only at their own paths. None contains another. */
export async function findToolchains({ home, dataDir, environment }: ToolchainPlaces): Promise<string[]> {
  const candidates = new Set(known.map((path) => join(home, path)));
  for (const [name, part] of Object.entries(named)) {
    const folder = environment[name];
    if (folder?.startsWith("/")) candidates.add(join(folder, part));
  }
  for (const entry of (environment["PATH"] ?? "").split(":")) {
    if (entry.startsWith("/")) candidates.add(join(entry));
  }
  const found: string[] = [];
  for (const path of candidates) {
    if (isOfSystem(path) || !(await isFolder(path))) continue;
    const real = await realpath(path);
    // A folder around the home or the data folder would show everything in them.
    const isTooWide = [home, dataDir].some((place) =>
      [path, real].some((shown) => shown === place || isBelow(place, shown)),
    );
    const isSecret = [path, real].some((shown) => isBelow(shown, dataDir) || isBelow("/proc", shown));
    if (!isTooWide && !isSecret && real !== "/") found.push(path);
  }
  return found.filter((path) => !found.some((other) => isBelow(path, other))).toSorted();
}

/** `PATH` without the entries that do not show inside, with the program's own Node as the last resort. */
export function visiblePath(path: string, shown: readonly string[], ownNode: string): string {
  const entries = path.split(":").filter((entry) => {
    return isOfSystem(entry) || shown.some((folder) => entry === folder || isBelow(entry, folder));
  });
  return [...new Set([...entries, ownNode])].join(":");
}

/** The variables of toolchains that point to something that shows inside. */
export function toolchainVariables(
  environment: ToolchainPlaces["environment"],
  shown: readonly string[],
): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const name of Object.keys(named)) {
    const value = environment[name];
    if (value === undefined) continue;
    const isShown = shown.some(
      (folder) => folder === value || isBelow(folder, value) || isBelow(value, folder),
    );
    if (isOfSystem(value) || isShown) variables[name] = value;
  }
  return variables;
}
