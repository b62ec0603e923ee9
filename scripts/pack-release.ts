import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { buildNodePackage } from "./build-node-package.ts";
import { nodePlatforms } from "./node-platforms.ts";
import { readManifest } from "./publish-manifest.ts";

/** A tarball of the release. */
export type Packed = {
  readonly name: string;
  readonly version: string;
  /** Name of the file in the folder of the release. */
  readonly file: string;
};

/** Folders of `dist` that `npm run build` writes and that are published. */
export const builtPackages: readonly string[] = ["convoke", "client", "protocol"];

/**
 * Packs what `npm run build` wrote into `folder`: a tarball of each package, those with a Node program, and the source maps of the
 * command. What is packed has no times and no owners, so the same files give the same bytes.
 */
export function packRelease(root: string, folder: string): readonly Packed[] {
  const dist = path.join(root, "dist");
  const missing = builtPackages.filter((name) => !existsSync(path.join(dist, name, "package.json")));
  if (missing.length > 0) throw new Error(`dist has no ${missing.join(", ")}: run npm run build first`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const packed = builtPackages.map((name) => pack(path.join(dist, name), folder));
  const programs = nodePlatforms.map((platform) => pack(buildNodePackage(root, platform), folder));
  packMaps(path.join(dist, "convoke"), path.join(folder, `convoke-${readManifest(root).version}-maps.tgz`));
  return [...packed, ...programs];
}

/** Packs one folder as npm publishes it. */
export function pack(packageFolder: string, target: string): Packed {
  const text = run("npm", ["pack", "--json", "--pack-destination", target], packageFolder);
  const [packed] = JSON.parse(text) as readonly { name: string; version: string; filename: string }[];
  if (packed === undefined) throw new Error(`npm packed nothing in ${packageFolder}`);
  return { name: packed.name, version: packed.version, file: packed.filename };
}

/** The source maps of the command's scripts, in `lib` as the scripts are: unpacked over an installed package they are found. */
function packMaps(packageFolder: string, file: string): void {
  const maps = readdirSync(path.join(packageFolder, "lib")).filter((name) => name.endsWith(".map"));
  const same = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rw,go=r"];
  const names = maps.toSorted().map((name) => `lib/${name}`);
  const options = ["--use-compress-program=gzip -9n", "-cf", file, ...same];
  run("tar", [...options, ...names], packageFolder);
}

/** Writes `SHA256SUMS` for all files in the folder, in the form that `sha256sum --check` reads. */
export function writeChecksums(folder: string): void {
  const files = readdirSync(folder).filter((name) => name !== checksums);
  const lines = files.toSorted().map(
    (name) =>
      `${createHash("sha256")
        .update(readFileSync(path.join(folder, name)))
        .digest("hex")}  ${name}\n`,
  );
  writeFileSync(path.join(folder, checksums), lines.join(""));
}

const checksums = "SHA256SUMS";

function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args[0]} failed in ${cwd}:\n${stderr}`);
  return stdout;
}

if (import.meta.main) {
  const root = path.resolve(import.meta.dirname, "..");
  const folder = path.join(root, "dist/release");
  for (const { file } of packRelease(root, folder)) console.log(`dist/release/${file}`);
  writeChecksums(folder);
  console.log("dist/release/SHA256SUMS");
}
