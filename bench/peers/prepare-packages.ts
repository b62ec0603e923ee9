import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** As they were measured. Their programs are in packages of their own for each platform, 600 MB together. */
export const peerVersions = { opencode: "1.18.33", codex: "0.171.0" } as const;

export type PeerPackage = keyof typeof peerVersions;

const packages: Readonly<Record<PeerPackage, string>> = { opencode: "opencode-ai", codex: "@openai/codex" };

/**
 * The program itself, without the Node script in front of it, installed into the folder for temporary files once for each version. Throws
 * when it cannot be had, or not for this platform.
 */
export function preparePackage(name: PeerPackage): string {
  const folder = join(tmpdir(), `convoke-peer-${name}-${peerVersions[name]}`);
  const mark = join(folder, "complete");
  if (!existsSync(mark)) {
    console.error(`Installing ${packages[name]} into ${folder}; this takes a minute, once.`);
    // What an interrupted run left.
    rmSync(folder, { recursive: true, force: true });
    install(folder, `${packages[name]}@${peerVersions[name]}`);
    writeFileSync(mark, "");
  }
  const program = programs[name](join(folder, "node_modules"));
  if (!existsSync(program))
    throw new Error(`${packages[name]} has no program for this platform: ${program}.`);
  return program;
}

function install(folder: string, wanted: string): void {
  const words = ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", wanted];
  try {
    execFileSync("npm", words, { stdio: ["ignore", "ignore", "inherit"], timeout: 600_000 });
  } catch (cause) {
    throw new Error(`${wanted} could not be installed; npm says why above.`, { cause });
  }
}

const platform = `${process.platform}-${process.arch}`;

const programs: Readonly<Record<PeerPackage, (modules: string) => string>> = {
  opencode: (modules) => join(modules, `opencode-${platform}`, "bin", "opencode"),
  codex: (modules) => {
    const vendor = join(modules, "@openai", `codex-${platform}`, "vendor");
    const [target = "none"] = existsSync(vendor) ? readdirSync(vendor) : [];
    return join(vendor, target, "bin", "codex");
  },
};
