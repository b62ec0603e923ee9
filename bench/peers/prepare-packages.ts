import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Measured versions. Their programs are in separate packages per platform, 600 MB together. */
export const peerVersions = { opencode: "1.18.33", codex: "0.171.0" } as const;

export type PeerPackage = keyof typeof peerVersions;

const packages: Readonly<Record<PeerPackage, string>> = { opencode: "opencode-ai", codex: "@openai/codex" };

/**
 * Installs the program itself, without its Node launcher, into the temporary folder, once per version. Throws when it is not available, or
 * not for this platform.
 */
export function preparePackage(name: PeerPackage): string {
  const folder = join(tmpdir(), `convoke-peer-${name}-${peerVersions[name]}`);
  const mark = join(folder, "complete");
  if (!existsSync(mark)) {
    console.error(`Installing ${packages[name]} into ${folder}; this takes a minute, once.`);
    // Remains of an interrupted run.
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
