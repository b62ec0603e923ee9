import { setTimeout as sleep } from "node:timers/promises";

/** What to end: processes by id, and whole groups by the id of the group. */
export type ProcessTarget = { readonly pids: readonly number[]; readonly groupIds: readonly number[] };

export type EndOptions = {
  /** Time between TERM and KILL in milliseconds. */
  readonly graceMs: number;
  /** Time after KILL in which new processes are looked for and killed too, in milliseconds. */
  readonly killMs: number;
};

const pollMs = 25;

/**
 * Sends TERM to everything that `find` names, then KILL until `find` names nothing more; `find` is asked again and
 * again, so what is started meanwhile ends too. True when nothing was left at the end.
 */
export async function endProcesses(find: () => ProcessTarget, options: EndOptions): Promise<boolean> {
  let target = find();
  if (isEmpty(target)) return true;
  signalProcesses(target, "SIGTERM");
  // A stopped process acts on TERM only when it goes on.
  signalProcesses(target, "SIGCONT");
  const killAt = performance.now() + options.graceMs;
  while (performance.now() < killAt) {
    await sleep(pollMs);
    target = find();
    if (isEmpty(target)) return true;
  }
  const endAt = performance.now() + options.killMs;
  do {
    signalProcesses(target, "SIGKILL");
    await sleep(pollMs);
    target = find();
  } while (!isEmpty(target) && performance.now() < endAt);
  return isEmpty(target);
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
