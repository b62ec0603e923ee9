import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { CommandError } from "../exit-codes.ts";
import type { ServiceScope } from "./unit-text.ts";

/** The command line, as people type it. */
export function systemctlLine(scope: ServiceScope, words: readonly string[]): string {
  return ["systemctl", ...flags(scope), ...words].join(" ");
}

/** Runs it and returns what it printed. */
export async function systemctl(scope: ServiceScope, words: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run("systemctl", [...flags(scope), ...words], { timeout: longestMs });
    return stdout;
  } catch (error) {
    const { code, killed, stderr = "" } = error as Failure;
    const reason =
      code === "ENOENT"
        ? "systemd is not installed here"
        : killed === true
          ? `it took longer than ${longestMs / 1_000} s`
          : (stderr.trim().split("\n")[0] ?? "") || String(error);
    throw new CommandError(`${systemctlLine(scope, words)} failed: ${reason}`);
  }
}

type Failure = { readonly code?: string | number; readonly killed?: boolean; readonly stderr?: string };

/** More than a server takes to stop (`TimeoutStopSec`). */
const longestMs = 60_000;
const run = promisify(execFile);

function flags(scope: ServiceScope): string[] {
  return scope === "user" ? ["--user"] : [];
}
