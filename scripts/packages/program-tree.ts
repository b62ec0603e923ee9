import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { copyDependencies } from "./copy-dependencies.ts";
import { findNpmPackage } from "./npm-package.ts";
import type { Target } from "./target.ts";

/** Starts the program beside it, wherever the tree was unpacked and through whatever link. */
const wrapper = `#!/bin/sh
self=$(readlink -f -- "$0")
home=\${self%/bin/convoke}/lib/convoke
exec "$home/bin/node" --disable-sigusr1 "$home/lib/bin.js" "$@"
`;

/**
 * Writes the program with everything it needs, Node included, as it lies below `/usr`: `bin/convoke`, `lib/convoke` and
 * `share/doc/convoke`. `built` is the package that `npm run build` wrote.
 */
export function writeProgramTree(root: string, built: string, target: Target, tree: string): void {
  const home = path.join(tree, "lib/convoke");
  const documents = path.join(tree, "share/doc/convoke");
  for (const folder of [path.join(tree, "bin"), path.join(home, "bin"), documents])
    mkdirSync(folder, { recursive: true });
  for (const name of ["lib", "web", "package.json"]) {
    cpSync(path.join(built, name), path.join(home, name), {
      recursive: true,
      filter: (file) => !file.endsWith(".map") && !isOtherCache(file, target),
    });
  }
  for (const script of ["bin.js", "launch.cjs"]) chmodSync(path.join(home, "lib", script), 0o644);
  for (const name of ["README.md", "LICENSE", "THIRD-PARTY-NOTICES.txt"])
    cpSync(path.join(built, name), path.join(documents, name));
  copyDependencies(root, home, target.cpu);
  dropUnused(path.join(home, "node_modules"));
  const strip = stripperOf(target);
  for (const part of globSync("**/*.node", { cwd: path.join(home, "node_modules") }))
    execFileSync(strip, ["--strip-unneeded", path.join(home, "node_modules", part)]);
  copyNode(root, target, strip, {
    program: path.join(home, "bin/node"),
    licence: path.join(documents, "node-LICENSE"),
  });
  writeFileSync(path.join(tree, "bin/convoke"), wrapper, { mode: 0o755 });
  writeCompletion(path.join(home, "lib/bin.js"), path.join(tree, "share/bash-completion/completions"));
  closeModes(tree);
}

/** What the command prints for bash; this machine's Node runs it. */
function writeCompletion(command: string, folder: string): void {
  const { status, stdout } = spawnSync(process.execPath, [command, "completion", "bash"], {
    encoding: "utf8",
  });
  if (status !== 0) return console.warn("this release prints no completion for shells: left out");
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "convoke"), stdout);
}

/** V8's code cache is for one Node on one kind of machine. */
function isOtherCache(file: string, { cpu }: Target): boolean {
  const [, builtFor] = /\.v\d+\.\d+\.\d+-(\w+)$/.exec(file) ?? [];
  return builtFor !== undefined && builtFor !== cpu;
}

/** Source maps, types and native parts of other systems. */
function dropUnused(modules: string): void {
  const unused = globSync(["**/*.map", "**/*.d.ts", "**/*.d.cts", "**/*.d.mts"], { cwd: modules });
  execFileSync("rm", ["-f", "--", ...unused], { cwd: modules });
}

function stripperOf({ strippers }: Target): string {
  const found = strippers.find((name) => spawnSync(name, ["--version"]).status === 0);
  if (found !== undefined) return found;
  throw new Error(
    `None of ${strippers.join(", ")} is installed here (Debian: binutils, binutils-aarch64-linux-gnu).`,
  );
}

function copyNode(
  root: string,
  { cpu }: Target,
  strip: string,
  place: { readonly program: string; readonly licence: string },
): void {
  const { devDependencies } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
    readonly devDependencies: { readonly node: string };
  };
  const source = findNpmPackage(root, `node-linux-${cpu}`, devDependencies.node);
  cpSync(path.join(source, "LICENSE"), place.licence);
  execFileSync(strip, ["-o", place.program, path.join(source, "bin/node")]);
}

/** What packages bring is closed: everybody may read it, only the owner may write, and only programs can be started. */
function closeModes(tree: string): void {
  execFileSync("chmod", ["-R", "u=rwX,go=rX", tree]);
  for (const entry of readdirSync(tree, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (!entry.isFile() || file === path.join(tree, "bin/convoke")) continue;
    if ((statSync(file).mode & 0o111) !== 0 && (!isElf(file) || file.endsWith(".node")))
      chmodSync(file, 0o644);
  }
}

function isElf(file: string): boolean {
  return readFileSync(file).subarray(0, 4).toString("latin1") === "\x7fELF";
}
