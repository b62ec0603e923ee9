import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { constants } from "node:os";

/** One row of the kernel's process table. Times are clock ticks since boot. */
export type ProcessEntry = {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  readonly sessionId: number;
  /** Process group in the foreground of the controlling terminal; -1 without a terminal. */
  readonly foregroundGroupId: number;
  /** Kernel state letter: `R`, `S`, `D`, `T` (stopped), `Z` (zombie) ... */
  readonly state: string;
  readonly startTicks: number;
};

/** True when `/proc` is available (Linux); elsewhere only process groups can be ended. */
export function hasProcessTable(): boolean {
  return readText("/proc/self/stat") !== undefined;
}

/** The row of one process; undefined when it is gone or the table cannot be read. */
export function readProcess(pid: number): ProcessEntry | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  return stat === undefined ? undefined : parseStat(pid, stat);
}

/** All processes of the table; empty without a table. */
export function listProcesses(): ProcessEntry[] {
  return processIds().flatMap((pid) => readProcess(pid) ?? []);
}

/** Live processes whose initial environment contains `assignment` (`NAME=value`). */
export function findMarkedProcesses(assignment: string): ProcessEntry[] {
  return processIds()
    .filter((pid) => hasAssignment(pid, assignment))
    .flatMap((pid) => readProcess(pid) ?? [])
    .filter((entry) => entry.state !== "Z");
}

/** Live processes that were started with the environment variable `name`, by its value. */
export function groupByEnvironment(name: string): Map<string, ProcessEntry[]> {
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

/** An environment variable that a process was started with; undefined when unset or not readable. */
export function readEnvironment(pid: number, name: string): string | undefined {
  const environment = readText(`/proc/${pid}/environ`);
  if (environment === undefined) return undefined;
  const text = `\0${environment}`;
  const found = text.indexOf(`\0${name}=`);
  if (found === -1) return undefined;
  const start = found + name.length + 2;
  const end = text.indexOf("\0", start);
  return text.slice(start, end === -1 ? undefined : end);
}

/** The arguments of a process, each ended by NUL; undefined when it is gone or there is no table. */
export function readCommandLine(pid: number): string | undefined {
  return readText(`/proc/${pid}/cmdline`);
}

/** Absolute path of the executable of a process, also for scripts; undefined when it is gone or not readable. */
export function readProgram(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    // The process ended, is owned by another user, or the system has no /proc.
    return undefined;
  }
}

/** True when a process ignores this signal. */
export function ignoresSignal(pid: number, signal: NodeJS.Signals): boolean {
  const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readText(`/proc/${pid}/status`) ?? "")?.[1];
  return mask !== undefined && ((BigInt(`0x${mask}`) >> BigInt(constants.signals[signal] - 1)) & 1n) === 1n;
}

/** Clock ticks since boot, comparable with {@link ProcessEntry.startTicks}; 0 without a table. */
export function ticksSinceBoot(): number {
  // The kernel reports 100 ticks per second on every Linux platform that Node supports.
  return Math.floor(Number(readText("/proc/uptime")?.split(" ")[0] ?? 0) * 100);
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
    // No /proc: not Linux. Callers get no processes.
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
    // The process ended, is owned by another user, or the system has no /proc.
    return undefined;
  }
}
