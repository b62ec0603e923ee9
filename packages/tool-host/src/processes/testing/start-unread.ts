import { spawn } from "node:child_process";
import { once } from "node:events";
import { listProcesses } from "../process-table.ts";

const longestMs = 30_000;
/** As long as a busy machine may hold up the event loop at any time. */
const heldUpMs = 300;

/**
 * Calls `start`, which starts one process that ends by itself, in such a way that its end is heard of before its output: told of the end of
 * one child, Node asks after all of them, and looks at the pipes of a new one only in the next turn of the event loop. That turn comes late.
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

/** Stands still until so many children have ended that nobody has asked after. */
function waitForEnded(count: number): void {
  const giveUpAt = performance.now() + longestMs;
  const isOver = (): boolean =>
    listProcesses().filter(({ parentPid, state }) => parentPid === process.pid && state === "Z").length >=
    count;
  while (!isOver() && performance.now() < giveUpAt);
}
