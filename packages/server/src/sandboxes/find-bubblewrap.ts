import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { isolation, newProc } from "./bubblewrap-arguments.ts";
import type { Account } from "./sandbox-directory.ts";
import { stagedCommand } from "./staged-command.ts";

export type BackendFinding = { readonly isUsable: boolean; /** For people. */ readonly detail: string };

export type BubblewrapTrial = {
  readonly self: Account;
  /** Who sandboxes run as when the server is root. */
  readonly unprivileged: Account;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** The account of this process; root where there are no accounts. */
export function ownAccount(): Account {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

const run = promisify(execFile);
const trialMs = 5_000;

/** Runs `true` in the namespaces that a sandbox has; never rejects. */
export async function findBubblewrap({
  self,
  unprivileged,
  environment,
}: BubblewrapTrial): Promise<BackendFinding> {
  const inner = [
    "bwrap",
    ...isolation,
    "--unshare-net",
    "--ro-bind",
    "/",
    "/",
    ...newProc,
    "--dev",
    "/dev",
    "--",
    "/bin/true",
  ];
  const { file, args } =
    self.uid === 0 ? stagedCommand(unprivileged, [], inner) : { file: "bwrap", args: inner.slice(1) };
  try {
    await run(file, args, { timeout: trialMs, env: { PATH: environment["PATH"] ?? "/usr/bin:/bin" } });
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
