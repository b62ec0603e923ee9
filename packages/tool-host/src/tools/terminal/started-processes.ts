import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { signalProcesses } from "../../processes/end-processes.ts";
import { ignoresSignal, readProcess, readProgram, ticksNow } from "../../system/process-table.ts";
import type { Shell } from "./shell.ts";

const pollMs = 5;
const shells = /^(?:ba|z|k|da|a|fi|c|tc|mk)?sh$|^busybox$/;

/** The processes below a shell that started after this object was created: those of one command. */
export class StartedProcesses {
  readonly #shell: Shell;
  readonly #startTicks = ticksNow();

  constructor(shell: Shell) {
    this.#shell = shell;
  }

  /** Parents before their children. */
  pids(): number[] {
    return this.#shell
      .children()
      .filter((entry) => entry.startTicks >= this.#startTicks)
      .map((entry) => entry.pid);
  }

  /** Sends TERM to all. */
  terminate(): void {
    terminate(this.pids());
  }

  /** Sends TERM to those that would otherwise continue with their next step. */
  terminateShells(): void {
    terminate(this.pids().filter((pid) => shells.test(basename(readProgram(pid) ?? ""))));
  }

  /** Kills all, and returns their ids. */
  kill(): number[] {
    const pids = this.pids();
    signalProcesses({ pids, groupIds: [] }, "SIGKILL");
    return pids;
  }

  /** Resolves when none of them exists any more, at the latest at a time of `performance.now`. */
  async areGone(pids: readonly number[], until: number): Promise<void> {
    while (pids.some((pid) => readProcess(pid) !== undefined) && performance.now() < until)
      await sleep(pollMs);
  }
}

/** Sends TERM; a process that ignores TERM is killed at once, because its parent must not continue with the next step when it is gone. */
function terminate(pids: readonly number[]): void {
  for (const pid of pids) {
    const target = { pids: [pid], groupIds: [] };
    signalProcesses(target, ignoresSignal(pid, "SIGTERM") ? "SIGKILL" : "SIGTERM");
    // A stopped process handles TERM only after CONT.
    signalProcesses(target, "SIGCONT");
  }
}
