import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import path from "node:path";

/**
 * The unpacked npm package `name`: as `npm ci` installed it, or else fetched into the cache of this repository, e.g. what belongs to
 * another kind of machine.
 */
export function findNpmPackage(root: string, name: string, version: string): string {
  const installed = path.join(root, "node_modules", name);
  if (versionOf(installed) === version) return installed;
  const cached = path.join(root, "node_modules/.cache/npm-packages", `${name.replace("/", "+")}@${version}`);
  if (existsSync(cached)) return cached;
  const draft = `${cached}.draft`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const packed = execFileSync("npm", ["pack", `${name}@${version}`, "--silent"], {
    cwd: draft,
    encoding: "utf8",
  }).trim();
  execFileSync("tar", ["--extract", "--file", packed, "--strip-components=1"], { cwd: draft });
  rmSync(path.join(draft, packed));
  renameSync(draft, cached);
  return cached;
}

function versionOf(folder: string): string | null {
  const manifest = path.join(folder, "package.json");
  if (!existsSync(manifest)) return null;
  return (JSON.parse(readFileSync(manifest, "utf8")) as { readonly version: string }).version;
}
