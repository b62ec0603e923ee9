import { setTimeout as sleep } from "node:timers/promises";
import type { ToolHost } from "@convoke/tool-host";
import { runProgram, type ProgramEnd } from "./run-program.ts";

type Host = Pick<ToolHost, "startProcess">;

/** For what only reads, and for what writes files of a repository. */
export const readMs = 20_000;
export const checkoutMs = 300_000;

/** So long a lock that another git has is waited for: a commit may have it while its hooks run. */
const lockedMs = 10_000;
const lockedPausesMs = [20, 50, 100, 200, 500];

/**
 * What git says when another one, of an agent, a person or another server, has a lock or is making a worktree. It has changed nothing
 * then, and does not wait by itself.
 */
const lockedOut = /Unable to create '.*\.lock': File exists|failed to read .*\/commondir/;

/**
 * No hook, no monitor, no signature, and no filter of the repository's own configuration is run; nor is the repository tidied up, which
 * goes on behind a command and would be ended with it.
 */
const safe = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "protocol.allow=never",
  "commit.gpgSign=false",
  "submodule.recurse=false",
  "gc.auto=0",
  // Git has no other switch for the lock that a comparison takes.
  "diff.autoRefreshIndex=false",
].flatMap((setting) => ["-c", setting]);

/** Commands that may send files through filters. */
const filtering: ReadonlySet<string> = new Set([
  "worktree",
  "add",
  "commit",
  "checkout",
  "merge",
  "status",
  "diff",
]);

/** Runs git in a directory where the tools of a conversation run; where another git has a lock, again and again for a while. */
export async function git(
  host: Host,
  directory: string,
  args: readonly string[],
  timeoutMs = readMs,
  settings: readonly string[] = [],
): Promise<ProgramEnd> {
  const filters = filtering.has(args[0] ?? "") ? await withoutFilters(host, directory) : [];
  const lastMs = performance.now() + lockedMs;
  for (let tries = 0; ; tries += 1) {
    const end = await runProgram(
      host,
      ["git", "-C", directory, ...safe, ...filters, ...settings, ...args],
      timeoutMs,
    );
    if (end.ok || !lockedOut.test(end.problem) || performance.now() > lastMs) return end;
    await sleep(lockedPausesMs[Math.min(tries, lockedPausesMs.length - 1)]);
  }
}

/** The full name of the commit that a name stands for; null where there is none. */
export async function commitOf(host: Host, directory: string, name: string): Promise<string | null> {
  const found = await git(host, directory, ["rev-parse", "--verify", "--quiet", `${name}^{commit}`]);
  return found.ok ? found.output : null;
}

/** Whether the repository's own configuration names programs that files go through when they are merged. */
export async function hasOwnPrograms(host: Host, directory: string): Promise<boolean> {
  return (
    (await ownKeys(host, directory, String.raw`^(filter|merge)\..*\.(clean|smudge|process|driver)$`)).length >
    0
  );
}

async function withoutFilters(host: Host, directory: string): Promise<string[]> {
  const names = await ownKeys(host, directory, String.raw`^filter\.`);
  const filters = new Set(names.map((name) => name.slice(0, name.lastIndexOf("."))));
  return [...filters].flatMap((filter) =>
    ["smudge=", "clean=", "process=", "required=false"].flatMap((setting) => ["-c", `${filter}.${setting}`]),
  );
}

/** Keys of the repository's configuration, also in files that it includes; not of the user's and the machine's. */
async function ownKeys(host: Host, directory: string, pattern: string): Promise<string[]> {
  const list = ["config", "--null", "--show-scope", "--name-only", "--get-regexp", pattern];
  const { output } = await runProgram(host, ["git", "-C", directory, ...list], readMs);
  const fields = output.split("\0");
  return fields.filter(
    (name, at) =>
      at % 2 === 1 && (fields[at - 1] === "local" || fields[at - 1] === "worktree") && !name.includes("="),
  );
}
