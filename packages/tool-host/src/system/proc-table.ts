import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { listenersOf } from "./proc-listeners.ts";
import type { ProcessEntry, SystemTable } from "./system-table.ts";

/** True where `/proc` lists processes (Linux). */
export function hasProc(): boolean {
  return readText("/proc/self/stat") !== undefined;
}

/** Linux's process table, read from `/proc`. */
export const procTable: SystemTable = {
  kind: "proc",
  isThere: hasProc,
  readProcess,
  listProcesses: () => processIds().flatMap((pid) => readProcess(pid) ?? []),
  findMarkedProcesses: (assignment) =>
    processIds()
      .filter((pid) => hasAssignment(pid, assignment))
      .flatMap((pid) => readProcess(pid) ?? [])
      .filter((entry) => entry.state !== "Z"),
  groupByEnvironment,
  readEnvironment,
  readCommandLine: (pid) => readText(`/proc/${pid}/cmdline`),
  readProgram: (pid) => readLink(`/proc/${pid}/exe`),
  ignoresSignal,
  // The kernel reports 100 ticks per second on every Linux platform that Node supports.
  ticksNow: () => Math.floor(Number(readText("/proc/uptime")?.split(" ")[0] ?? 0) * 100),
  workingFolders: (pids) =>
    new Map(
      pids.flatMap((pid) => {
        const folder = readLink(`/proc/${pid}/cwd`);
        return folder === undefined ? [] : [[pid, folder] as const];
      }),
    ),
  listenersOf,
  bootId: () => readText("/proc/sys/kernel/random/boot_id")?.trim() ?? "",
  processNamespace: () => /\d+/.exec(readLink("/proc/self/ns/pid") ?? "")?.[0] ?? "0",
  openFileLimit: () => {
    const [, max] = /^Max open files +(\d+) /m.exec(readText("/proc/self/limits") ?? "") ?? [];
    return max === undefined ? null : Number(max);
  },
  makeExpendable,
};

/** From 0 to 1000; half of all memory is added to what the process uses when the kernel chooses. */
const expendableScore = "500";

function makeExpendable(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, expendableScore);
  } catch {
    // A process that has ended, or one with a higher score: only root may lower it.
  }
}

function readProcess(pid: number): ProcessEntry | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  return stat === undefined ? undefined : parseStat(pid, stat);
}

function groupByEnvironment(name: string): Map<string, ProcessEntry[]> {
  const byValue = new Map<string, ProcessEntry[]>();
  for (const pid of processIds()) {
    // First, because few processes have it.
    const value = readEnvironment(pid, name);
    const entry = value === undefined ? undefined : readProcess(pid);
    if (value === undefined || entry === undefined || entry.state === "Z") continue;
    const entries = byValue.get(value);
    if (entries === undefined) byValue.set(value, [entry]);
    else entries.push(entry);
  }
  return byValue;
}

function readEnvironment(pid: number, name: string): string | undefined {
  const environment = readText(`/proc/${pid}/environ`);
  if (environment === undefined) return undefined;
  const text = `\0${environment}`;
  const found = text.indexOf(`\0${name}=`);
  if (found === -1) return undefined;
  const start = found + name.length + 2;
  const end = text.indexOf("\0", start);
  return text.slice(start, end === -1 ? undefined : end);
}

function ignoresSignal(pid: number, signal: NodeJS.Signals): boolean {
  const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readText(`/proc/${pid}/status`) ?? "")?.[1];
  return mask !== undefined && ((BigInt(`0x${mask}`) >> BigInt(constants.signals[signal] - 1)) & 1n) === 1n;
}

function parseStat(pid: number, stat: string): ProcessEntry | undefined {
  // The second field is the program's name in parentheses, with arbitrary characters; the fields after it are plain.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, parentPid, groupId, sessionId, , foregroundGroupId] = fields;
  const startTicks = fields[19];
  if (state === undefined || startTicks === undefined) return undefined;
  return {
    pid,
    parentPid: Number(parentPid),
    groupId: Number(groupId),
    sessionId: Number(sessionId),
    foregroundGroupId: Number(foregroundGroupId),
    state,
    startTicks: Number(startTicks),
  };
}

function processIds(): number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    // No /proc: not Linux, and this table is not used.
    return [];
  }
}

function hasAssignment(pid: number, assignment: string): boolean {
  const environment = readText(`/proc/${pid}/environ`);
  return environment !== undefined && `\0${environment}`.includes(`\0${assignment}\0`);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // The process ended, or is owned by another user.
    return undefined;
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // The process ended, or is owned by another user.
    return undefined;
  }
}
