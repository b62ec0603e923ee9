import { setTimeout as sleep } from "node:timers/promises";
import { readProcess, signalProcesses, type ProcessEntry } from "@convoke/tool-host";
import { SandboxError } from "./sandbox.ts";

/** A process that cannot be mistaken for a later one with the same number. */
export type ProcessKey = { readonly pid: number; readonly startTicks: number };

/** Lists the live processes of one sandbox, asked again whenever something was done to them. */
export type FindProcesses = () => readonly ProcessEntry[];

const roundMs = 5;
const freezeRounds = 200;
/** A busy machine ends in seconds what an idle one ends at once. */
const endMs = 20_000;

/** The process when it is still the same one and not a zombie. */
export function findSame(key: ProcessKey): ProcessEntry | undefined {
  const entry = readProcess(key.pid);
  return entry?.startTicks === key.startTicks && entry.state !== "Z" ? entry : undefined;
}

export function isStopped(entry: ProcessEntry): boolean {
  return entry.state === "T";
}

/**
 * Stops every process that `find` names until all of them are stopped in two checks in a row, so none that was started
 * meanwhile gets away. Returns those that were stopped before, by their own doing: they must stay so when the others continue.
 */
export async function freezeProcesses(find: FindProcesses): Promise<ProcessKey[]> {
  const before = find()
    .filter(isStopped)
    .map(({ pid, startTicks }) => ({ pid, startTicks }));
  let quietRounds = 0;
  for (let round = 0; round < freezeRounds; round++) {
    const running = find().filter((entry) => !isStopped(entry));
    quietRounds = running.length === 0 ? quietRounds + 1 : 0;
    if (quietRounds === 2) return before;
    signalProcesses({ pids: running.map(({ pid }) => pid), groupIds: [] }, "SIGSTOP");
    await sleep(roundMs);
  }
  thawProcesses(find, before);
  throw new SandboxError(
    "The processes could not be frozen: they start others faster than they can be stopped.",
  );
}

/** Continues every process except those that were stopped before the freeze. */
export function thawProcesses(find: FindProcesses, stoppedBefore: readonly ProcessKey[]): void {
  const isLeft = (entry: ProcessEntry): boolean =>
    stoppedBefore.some(({ pid, startTicks }) => pid === entry.pid && startTicks === entry.startTicks);
  const pids = find()
    .filter((entry) => isStopped(entry) && !isLeft(entry))
    .map(({ pid }) => pid);
  signalProcesses({ pids, groupIds: [] }, "SIGCONT");
}

/** Kills until `find` names nothing more. */
export async function killProcesses(find: FindProcesses): Promise<void> {
  const deadline = performance.now() + endMs;
  for (let left = find(); left.length > 0; left = find()) {
    if (performance.now() > deadline) {
      throw new SandboxError(
        `Processes ${left.map(({ pid }) => pid).join(", ")} did not end after SIGKILL; they may wait for a device.`,
      );
    }
    signalProcesses({ pids: left.map(({ pid }) => pid), groupIds: [] }, "SIGKILL");
    await sleep(roundMs);
  }
}
