import { spawnSync } from "node:child_process";
import { parseFolders, parseListeners } from "./parse-lsof.ts";
import { parsePs, psColumns, type ListedProcess } from "./parse-ps.ts";
import type { ProcessEntry, SystemTable } from "./system-table.ts";

/** Runs a program; `output` is "" where it cannot be run or writes nothing, and `pid` is what it had. */
export type RunProgram = (
  program: string,
  args: readonly string[],
) => { readonly pid: number; readonly output: string };

export type PsTableOptions = {
  readonly run?: RunProgram;
  /** Whether there is a process with this id, a zombie too. */
  readonly exists?: (pid: number) => boolean;
  readonly nowMs?: () => number;
  readonly platform?: NodeJS.Platform;
};

/** One listing costs some hundredths of a second, so polls share it. */
const cachedMs = 200;
const deadlineMs = 5_000;
const maxBytes = 64 * 1024 * 1024;

/** The process table of a system without `/proc`, as its `ps` and `lsof` report it. */
export function createPsTable({
  run = runProgram,
  exists = isThere,
  nowMs = () => performance.now(),
  platform = process.platform,
}: PsTableOptions = {}): SystemTable {
  const withEnvironment = platform === "darwin" ? ["-axEww"] : ["axeww"];
  const outputOf = (program: string, ...args: readonly string[]): string => run(program, args).output;
  const list = (...flags: readonly string[]): ListedProcess[] => {
    const { pid, output } = run("ps", [...flags, "-o", psColumns]);
    // It lists itself, as one of our children.
    return parsePs(output).filter((entry) => entry.pid !== pid);
  };
  const plain = cached(() => list("-axww"), nowMs);
  const marked = cached(() => list(...withEnvironment), nowMs);
  const find = (pid: number): ListedProcess | undefined => {
    // The kernel is asked first: a list may be older than the end of a process.
    if (!exists(pid)) return undefined;
    const isIt = (entry: ListedProcess): boolean => entry.pid === pid;
    // A process of the last moment is not in a list from before it.
    return plain.get().find(isIt) ?? plain.refresh().find(isIt);
  };
  const groupByEnvironment = (name: string): Map<string, ProcessEntry[]> => {
    const argumentsOf = new Map(plain.refresh().map(({ pid, words }) => [pid, words]));
    const live = marked.refresh().filter(({ state }) => state !== "Z");
    const found = live.flatMap(({ words, ...entry }) => {
      const value = valueBehind(argumentsOf.get(entry.pid), words, name);
      return value === undefined ? [] : [{ value, entry }];
    });
    return new Map(
      [...Map.groupBy(found, ({ value }) => value)].map(([value, items]) => [
        value,
        items.map(({ entry }) => entry),
      ]),
    );
  };
  return {
    kind: "ps",
    isThere: () => find(process.pid) !== undefined,
    readProcess: (pid) => toEntry(find(pid)),
    listProcesses: () => plain.refresh().flatMap((entry) => toEntry(entry) ?? []),
    findMarkedProcesses: (assignment) => {
      const [, name = "", value] = /^([^=]*)=([^]*)$/u.exec(assignment) ?? [];
      return groupByEnvironment(name).get(value ?? "") ?? [];
    },
    groupByEnvironment,
    readEnvironment: (pid, name) => {
      const words = marked.get().find((entry) => entry.pid === pid)?.words;
      return words === undefined ? undefined : valueBehind(find(pid)?.words, words, name);
    },
    // Arguments with spaces cannot be outputOf from several ones.
    readCommandLine: (pid) => find(pid)?.words.trimEnd().replaceAll(" ", "\0").concat("\0"),
    readProgram: (pid) => outputOf("ps", "-p", String(pid), "-o", "comm=").trim() || undefined,
    ignoresSignal: () => false,
    // Starts are outputOf in whole seconds: what began in this second counts as begun after now.
    ticksNow: () => Math.floor(Date.now() / 1_000) * 100,
    workingFolders: (pids) =>
      pids.length === 0
        ? new Map()
        : parseFolders(outputOf("lsof", "-a", "-d", "cwd", "-p", pids.join(","), "-Fn")),
    listenersOf: (pids) =>
      pids.length === 0
        ? []
        : parseListeners(outputOf("lsof", "-anP", "-iTCP", "-sTCP:LISTEN", "-p", pids.join(","), "-Fn")),
    bootId: () => (platform === "darwin" ? outputOf("sysctl", "-n", "kern.bootsessionuuid").trim() : ""),
    processNamespace: () => "0",
    openFileLimit: () => {
      const limit = outputOf("sh", "-c", "ulimit -n").trim();
      return /^\d+$/u.test(limit) ? Number(limit) : null;
    },
    makeExpendable: () => undefined,
  };
}

/**
 * A variable in the environment, which follows the arguments: those of a guardian name what it looks for. The markers of this program have
 * no spaces; a value with one ends there.
 */
function valueBehind(args: string | undefined, words: string, name: string): string | undefined {
  if (args === undefined || !words.startsWith(args.trimEnd())) return undefined;
  const environment = words.slice(args.trimEnd().length);
  return new RegExp(`(?:^| )${RegExp.escape(name)}=(\\S*)`, "u").exec(environment)?.[1];
}

function toEntry(listed: ListedProcess | undefined): ProcessEntry | undefined {
  if (listed === undefined) return undefined;
  const { words: _, ...entry } = listed;
  return entry;
}

function cached<Value>(read: () => Value, nowMs: () => number) {
  let value: Value;
  let atMs = Number.NEGATIVE_INFINITY;
  const refresh = (): Value => {
    value = read();
    atMs = nowMs();
    return value;
  };
  return { refresh, get: (): Value => (nowMs() - atMs < cachedMs ? value : refresh()) };
}

function runProgram(...[program, args]: Parameters<RunProgram>): ReturnType<RunProgram> {
  const { pid, stdout } = spawnSync(program, args, {
    encoding: "utf8",
    timeout: deadlineMs,
    maxBuffer: maxBytes,
    stdio: ["ignore", "pipe", "ignore"],
    env: { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C", TZ: "UTC" },
  });
  return { pid, output: stdout ?? "" };
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // That of another user may not be signalled.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
