import { createHash } from "node:crypto";
import { execFile } from "node:child_process";
import { hostname } from "node:os";
import { promisify } from "node:util";
import { isolation } from "./bubblewrap-arguments.ts";
import { createBubblewrapBackend } from "./bubblewrap.ts";
import { createProcessBackend } from "./process.ts";
import type { LocalBackendDeps } from "./process.ts";
import type { Account } from "./sandbox-directory.ts";
import type { SandboxBackend } from "./sandbox.ts";
import { stagedCommand } from "./staged-command.ts";

export type SandboxChoice = {
  /** All that work here, in the order in which leftovers must be removed. */
  readonly backends: readonly SandboxBackend[];
  /** Name of the one to use when nobody says: the best isolation that works here. */
  readonly preferred: string;
  /** One line each for people: what works here, and what is missing for the others. */
  readonly findings: readonly string[];
};

export type SandboxPlatform = LocalBackendDeps & { readonly self: Account; readonly unprivileged: Account };

/** Looks once, in milliseconds, at what this machine can do. */
export async function openSandboxBackends(platform: SandboxPlatform): Promise<SandboxChoice> {
  const bubblewrap = await findBubblewrap(platform);
  return {
    backends: [
      ...(bubblewrap.isUsable ? [createBubblewrapBackend(platform)] : []),
      createProcessBackend(platform),
    ],
    preferred: bubblewrap.isUsable ? "bubblewrap" : "process",
    findings: [`bubblewrap: ${bubblewrap.detail}`, "process: works everywhere on Linux and isolates nothing"],
  };
}

/** The same for every start over one data folder, different for every other folder and machine. */
export function installationIdOf(dataDir: string): string {
  return createHash("sha256").update(`${hostname()}\0${dataDir}`).digest("hex").slice(0, 12);
}

export type BubblewrapFinding = { readonly isUsable: boolean; readonly detail: string };

const run = promisify(execFile);
const probeMs = 5_000;

/** Runs `true` in the namespaces that a sandbox has. */
export async function findBubblewrap(
  platform: Pick<SandboxPlatform, "self" | "unprivileged" | "environment">,
): Promise<BubblewrapFinding> {
  const { self, unprivileged, environment } = platform;
  const inner = [
    "bwrap",
    ...isolation,
    "--ro-bind",
    "/",
    "/",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--",
    "/bin/true",
  ];
  const { file, args } =
    self.uid === 0 ? stagedCommand(unprivileged, [], inner) : { file: "bwrap", args: inner.slice(1) };
  try {
    await run(file, args, { timeout: probeMs, env: { PATH: environment["PATH"] ?? "/usr/bin:/bin" } });
    return { isUsable: true, detail: "works" };
  } catch (error) {
    const { stderr = "", code } = error as { stderr?: string; code?: string | number };
    const isAbsent = code === "ENOENT" || code === 127;
    return {
      isUsable: false,
      detail: isAbsent
        ? "not installed (Debian, Ubuntu: apt-get install bubblewrap)"
        : `does not work here: ${stderr.trim().split("\n").at(-1) ?? ""}`,
    };
  }
}
