import { setImmediate as untilPolled, setTimeout as sleep } from "node:timers/promises";
import { ProcessScans, type ProcessScan } from "./process-scan.ts";
import { readProcess } from "./process-table.ts";

/** What to end: processes by id, and whole groups by the id of the group. */
export type ProcessTarget = { readonly pids: readonly number[]; readonly groupIds: readonly number[] };

export type EndOptions = {
  /** Time between TERM and KILL in milliseconds. */
  readonly graceMs: number;
  /** Time after KILL in which new processes are looked for and killed too, in milliseconds. */
  readonly killMs: number;
};

/** A process has one kernel with one table, whoever looks at it. */
const scans = new ProcessScans();

const pollMs = 10;
/** How long what was killed may take to go before it is looked for again. */
const killRoundMs = 100;

/**
 * Sends TERM to everything that `find` names, then KILL until `find` names nothing more; `find` is asked again, each time with a
 * newer scan, so what is started meanwhile ends too. True when nothing was left at the end.
 */
export async function endProcesses(
  find: (scan: ProcessScan) => ProcessTarget,
  options: EndOptions,
): Promise<boolean> {
  let target = find(await scans.next());
  const killAt = performance.now() + options.graceMs;
  // Counted from the first KILL: whoever is held up in between must not be late before it has sent one.
  let endAt = Infinity;
  let signal: NodeJS.Signals = "SIGTERM";
  while (!isEmpty(target) && performance.now() < endAt) {
    signalProcesses(target, signal);
    if (signal === "SIGKILL") endAt = Math.min(endAt, performance.now() + options.killMs);
    // A stopped process acts on TERM only when it goes on.
    if (signal === "SIGTERM") signalProcesses(target, "SIGCONT");
    await waitUntilGone(
      target,
      signal === "SIGTERM" ? killAt : Math.min(endAt, performance.now() + killRoundMs),
    );
    if (signal === "SIGTERM" && performance.now() >= killAt) signal = "SIGKILL";
    target = find(await scans.next());
    if (!isEmpty(target)) continue;
    // What was forked meanwhile, or is between two programs, may not have shown: only two looks in a row count.
    await sleep(pollMs);
    target = find(await scans.next());
  }
  return isEmpty(target);
}

/** Watching known ids is cheap; asking `find` may mean reading the whole process table. */
async function waitUntilGone(target: ProcessTarget, until: number): Promise<void> {
  const isThere = (): boolean => target.pids.some(isRunning) || target.groupIds.some((id) => canSignal(-id));
  // At least one pause: the events that tell of an exit need a turn of the event loop.
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
    // Gone, or not ours: either way there is nothing to wait for.
    return false;
  }
}

/** Signals every process and group of `target`; those that are gone are passed over. */
export function signalProcesses(target: ProcessTarget, signal: NodeJS.Signals): void {
  // Ids 0, 1 and negative ones mean "my group", init and "everybody" to the kernel: never signal those.
  for (const pid of target.pids) if (pid > 1) send(pid, signal);
  for (const groupId of target.groupIds) if (groupId > 1) send(-groupId, signal);
}

function send(id: number, signal: NodeJS.Signals): void {
  try {
    process.kill(id, signal);
  } catch {
    // Gone already, or not ours to signal: whoever asked looks again and sees what is left.
  }
}

function isEmpty(target: ProcessTarget): boolean {
  return target.pids.length === 0 && target.groupIds.length === 0;
}
