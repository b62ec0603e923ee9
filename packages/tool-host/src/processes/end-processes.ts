import { setImmediate as untilPolled, setTimeout as sleep } from "node:timers/promises";
import { ProcessScans, type ProcessScan } from "./process-scan.ts";
import { readProcess } from "../system/process-table.ts";

/** What to end: process ids, and ids of process groups. */
export type ProcessTarget = { readonly pids: readonly number[]; readonly groupIds: readonly number[] };

export type EndOptions = {
  /** Time between TERM and KILL in milliseconds. */
  readonly graceMs: number;
  /** Milliseconds after KILL in which newly started processes are searched and killed too. */
  readonly killMs: number;
};

/** The process table is the kernel's, so one scan serves all callers. */
const scans = new ProcessScans();

const pollMs = 10;
/** Milliseconds that killed processes have to disappear before the next search. */
const killRoundMs = 100;

/**
 * Sends TERM to everything that `find` returns, then KILL until `find` returns nothing. Each call of `find` gets a newer scan, so
 * processes that start meanwhile are ended too. True when nothing was left at the end.
 */
export async function endProcesses(
  find: (scan: ProcessScan) => ProcessTarget,
  options: EndOptions,
): Promise<boolean> {
  let target = find(await scans.next());
  const killAt = performance.now() + options.graceMs;
  // Counted from the first KILL, so that a process that was held up before still sends it.
  let endAt = Infinity;
  let signal: NodeJS.Signals = "SIGTERM";
  while (!isEmpty(target) && performance.now() < endAt) {
    signalProcesses(target, signal);
    if (signal === "SIGKILL") endAt = Math.min(endAt, performance.now() + options.killMs);
    // A stopped process handles TERM only after CONT.
    if (signal === "SIGTERM") signalProcesses(target, "SIGCONT");
    await waitUntilGone(
      target,
      signal === "SIGTERM" ? killAt : Math.min(endAt, performance.now() + killRoundMs),
    );
    if (signal === "SIGTERM" && performance.now() >= killAt) signal = "SIGKILL";
    target = find(await scans.next());
    if (!isEmpty(target)) continue;
    // A process may be invisible while it forks or executes another program; so two empty scans in a row are required.
    await sleep(pollMs);
    target = find(await scans.next());
  }
  return isEmpty(target);
}

/** Polling known ids is cheap; calling `find` may read the whole process table. */
async function waitUntilGone(target: ProcessTarget, until: number): Promise<void> {
  const isThere = (): boolean => target.pids.some(isRunning) || target.groupIds.some((id) => canSignal(-id));
  // At least one pause, because exit events need a turn of the event loop.
  do {
    await sleep(pollMs);
    await untilPolled();
  } while (isThere() && performance.now() < until);
}

function isRunning(pid: number): boolean {
  if (!canSignal(pid)) return false;
  const state = readProcess(pid)?.state;
  return state !== "Z";
}

function canSignal(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch {
    // Gone or owned by another user: nothing to wait for.
    return false;
  }
}

/** Signals every process and group of `target`; missing ones are skipped. */
export function signalProcesses(target: ProcessTarget, signal: NodeJS.Signals): void {
  // To the kernel 0, 1 and negative ids mean "my group", init and "everybody": never signal those.
  for (const pid of target.pids) if (pid > 1) send(pid, signal);
  for (const groupId of target.groupIds) if (groupId > 1) send(-groupId, signal);
}

function send(id: number, signal: NodeJS.Signals): void {
  try {
    process.kill(id, signal);
  } catch {
    // Gone or owned by another user; the caller scans again.
  }
}

function isEmpty(target: ProcessTarget): boolean {
  return target.pids.length === 0 && target.groupIds.length === 0;
}
