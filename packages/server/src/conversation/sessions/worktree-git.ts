import type { ToolHost } from "@convoke/tool-host";
import { runProgram, type ProgramEnd } from "./run-program.ts";

type Host = Pick<ToolHost, "startProcess">;

/** For what only reads, and for what writes files of a repository. */
export const readMs = 20_000;
export const checkoutMs = 300_000;

/** No hook, no monitor, no signature, and no filter of the repository's own configuration is run. */
const safe = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "protocol.allow=never",
  "commit.gpgSign=false",
  "submodule.recurse=false",
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

/** Runs git in a directory where the tools of a conversation run. */
export async function git(
  host: Host,
  directory: string,
  args: readonly string[],
  timeoutMs = readMs,
  settings: readonly string[] = [],
): Promise<ProgramEnd> {
  const filters = filtering.has(args[0] ?? "") ? await withoutFilters(host, directory) : [];
  return await runProgram(
    host,
    ["git", "-C", directory, ...safe, ...filters, ...settings, ...args],
    timeoutMs,
  );
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
