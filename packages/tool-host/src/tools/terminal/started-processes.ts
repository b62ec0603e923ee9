import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { signalProcesses } from "../../processes/end-processes.ts";
import { ignoresSignal, readProcess, readProgram, ticksSinceBoot } from "../../processes/process-table.ts";
import type { Shell } from "./shell.ts";

const pollMs = 5;
const shells = /^(?:ba|z|k|da|a|fi|c|tc|mk)?sh$|^busybox$/;

/** The processes below a shell that have begun since this was made: those of one command. */
export class StartedProcesses {
  readonly #shell: Shell;
  readonly #startTicks = ticksSinceBoot();

  constructor(shell: Shell) {
    this.#shell = shell;
  }

  /** Parents come before what they started. */
  pids(): number[] {
    return this.#shell
      .children()
      .filter((entry) => entry.startTicks >= this.#startTicks)
      .map((entry) => entry.pid);
  }

  /** Asks all to end. */
  terminate(): void {
    terminate(this.pids());
  }

  /** Asks those to end that would go on with their next step. */
  terminateShells(): void {
    terminate(this.pids().filter((pid) => shells.test(basename(readProgram(pid) ?? ""))));
  }

  /** Returns the ids of those that were killed. */
  kill(): number[] {
    const pids = this.pids();
    signalProcesses({ pids, groupIds: [] }, "SIGKILL");
    return pids;
  }

  /** Resolves when none of them is there any more, and at the latest at a time of `performance.now`. */
  async areGone(pids: readonly number[], until: number): Promise<void> {
    while (pids.some((pid) => readProcess(pid) !== undefined) && performance.now() < until)
      await sleep(pollMs);
  }
}

/** Asks to end, one that never would is killed at once: a parent must not go on with its next step when its child is gone. */
function terminate(pids: readonly number[]): void {
  for (const pid of pids) {
    const target = { pids: [pid], groupIds: [] };
    signalProcesses(target, ignoresSignal(pid, "SIGTERM") ? "SIGKILL" : "SIGTERM");
    // A stopped process acts on TERM only when it goes on.
    signalProcesses(target, "SIGCONT");
  }
}
