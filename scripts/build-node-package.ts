import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type NodePlatform, nodePackageName } from "./node-platforms.ts";
import { publicFields, readManifest } from "./publish-manifest.ts";

/**
 * Makes the package with the Node program for one platform in `dist/node-OS-CPU`, and returns that folder. The program comes from npm's
 * package of the version in `devDependencies`, checked against the integrity that we know; its symbols are removed (126 MB become
 * 109 MB), and the C headers (67 MB) stay behind.
 */
export function buildNodePackage(root: string, platform: NodePlatform): string {
  const { devDependencies = {}, keywords: _ofConvoke, ...workspace } = readManifest(root);
  const version = devDependencies["node"];
  if (version === undefined) throw new Error("package.json names no node in devDependencies");
  const target = path.join(root, "dist", `node-${platform.os}-${platform.cpu}`);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const archive = downloadProgram(root, platform, version);
  run("tar", [
    "-xzf",
    archive,
    "-C",
    target,
    "--strip-components=1",
    ...taken.map((file) => `package/${file}`),
  ]);
  const program = path.join(target, "bin/node");
  strip(platform, program);
  checkProgram(platform, program, version);
  const { os, cpu, libc } = platform;
  const manifest = {
    name: nodePackageName(platform),
    version,
    description: `The Node ${version} that the package convoke runs on, for ${os} on ${cpu} with ${libc}.`,
    ...publicFields(workspace),
    os: [os],
    cpu: [cpu],
    libc: [libc],
    files: taken,
  };
  writeFileSync(path.join(target, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  return target;
}

const taken: readonly string[] = ["bin/node", "LICENSE"];

/** The archive in a cache of this clone. */
function downloadProgram(root: string, { source }: NodePlatform, version: string): string {
  const cache = path.join(root, "node_modules/.cache/convoke-node");
  const file = path.join(cache, `${source.name}-${version}.tgz`);
  if (!existsSync(file)) {
    mkdirSync(cache, { recursive: true });
    run("npm", ["pack", `${source.name}@${version}`, "--pack-destination", cache, "--silent"]);
  }
  const found = `sha512-${createHash("sha512").update(readFileSync(file)).digest("base64")}`;
  if (found !== source.integrity) {
    rmSync(file);
    throw new Error(
      `${source.name}@${version} is not what scripts/node-platforms.ts expects: compare ${found} with "npm view ${source.name}@${version} dist.integrity" and Node's release notes, then change it there.`,
    );
  }
  return file;
}

function strip({ strip: { command, debian } }: NodePlatform, program: string): void {
  const { error } = spawnSync(command, ["--version"]);
  if (error !== undefined) throw new Error(`${command} is missing: apt-get install ${debian}`);
  run(command, ["--strip-all", program]);
}

/** It runs where it can, and is for the right processor where it cannot. */
function checkProgram({ os, cpu, machine }: NodePlatform, program: string, version: string): void {
  const found = readFileSync(program).readUInt16LE(offsetOfMachine);
  if (found !== machine) throw new Error(`${program} is for another processor (ELF machine ${found})`);
  if (os !== process.platform || cpu !== process.arch) return;
  const { stdout } = run(program, ["--version"]);
  if (stdout.trim() !== `v${version}`) throw new Error(`${program} is ${stdout.trim()}, not v${version}`);
}

const offsetOfMachine = 18;

function run(command: string, args: readonly string[]): { readonly stdout: string } {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`);
  return { stdout };
}
