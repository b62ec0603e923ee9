import { spawn } from "node:child_process";
import { once } from "node:events";
import { listProcesses } from "../../system/process-table.ts";

const longestMs = 30_000;
/** Milliseconds that a busy machine may hold up the event loop. */
const heldUpMs = 300;

/**
 * Calls `start`, which starts one process that ends by itself, so that its exit is reported before its output: on the exit of one
 * child Node reaps all of them, but polls the pipes of a new one only in the next turn of the event loop. That turn is delayed.
 */
export async function startUnread<Started>(start: () => Started): Promise<Started> {
  const first = spawn("/bin/sh", ["-c", "echo first"], { stdio: ["ignore", "pipe", "ignore"] });
  const ended = once(first, "close");
  const started = new Promise<Started>((resolve) => {
    first.stdout.once("data", () => {
      resolve(start());
      waitForEnded(2);
      setImmediate(() => {
        const until = performance.now() + heldUpMs;
        while (performance.now() < until);
      });
    });
  });
  waitForEnded(1);
  await ended;
  return await started;
}

/** Blocks until this many children have exited unreaped. */
function waitForEnded(count: number): void {
  const giveUpAt = performance.now() + longestMs;
  const isOver = (): boolean =>
    listProcesses().filter(({ parentPid, state }) => parentPid === process.pid && state === "Z").length >=
    count;
  while (!isOver() && performance.now() < giveUpAt);
}
