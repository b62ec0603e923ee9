import type { Condensing } from "../agent/condense/condensing.ts";
import { maskCut } from "../security/mask.ts";
import { decideInterrupt, decidePause, decideTimeUp } from "./commands/decide.ts";
import type { Work } from "./commands/while-running.ts";
import type { Lifetime } from "./lifetime.ts";
import type { PublishedState } from "./published-state.ts";
import type { Hold } from "./run/hold.ts";
import type { Runner } from "./run/runner.ts";
import { timeLimitOf } from "./run/time-limits.ts";
import { secretValues } from "./secret-values.ts";
import type { SharedParts } from "./shared-parts.ts";
import type { Writer } from "./writer.ts";

export type HaltsDeps = Pick<SharedParts, "clock" | "configuration" | "log"> & {
  readonly condensing: Condensing;
  readonly hold: Hold;
  readonly lifetime: Lifetime;
  readonly published: PublishedState;
  readonly runner: Runner;
  readonly writer: Writer;
};

/**
 * Pause, stop and interrupt. Each resolves when it is durable; if the store fails, the work is halted in memory at
 * once.
 */
export class Halts {
  readonly #deps: HaltsDeps;

  constructor(deps: HaltsDeps) {
    this.#deps = deps;
  }

  /** The work in progress, for commands that may stop it. */
  get work(): Work {
    return { ...this.#working(), beingReadSeq: this.#deps.runner.beingReadSeq };
  }

  /** Call after a command has stopped the work in progress: resolves when delegated work has stopped. */
  async settle(): Promise<void> {
    const { lifetime, published } = this.#deps;
    await lifetime.others.stopped();
    published.publish();
  }

  /** Starts nothing new; work in progress finishes. */
  async pause(): Promise<void> {
    const { hold, published, writer } = this.#deps;
    try {
      await hold.halt(() => writer.command(decidePause));
    } finally {
      this.#leave();
    }
    published.publish();
  }

  /** Aborts the work in progress. */
  async interrupt(): Promise<void> {
    const { hold, writer } = this.#deps;
    const marker = { kind: "InterruptEvent", source: "user" } as const;
    await hold.halt(() => writer.command((state) => decideInterrupt(state, marker, this.#working())));
    await this.settle();
  }

  /** Like interrupt; resolves with the status before it. No model call or tool starts after it resolves (P43). */
  async stop(): Promise<"RUNNING" | "STOPPED"> {
    const { hold, lifetime, published, writer } = this.#deps;
    let wasRunning = false;
    await hold.halt(() =>
      writer.command((state) => {
        const working = this.#working();
        wasRunning = state.status === "running" || working.isWorking;
        if (!wasRunning) return { drafts: [] };
        return decideInterrupt(state, { kind: "PauseEvent", source: "user" }, working);
      }),
    );
    await lifetime.others.stopped();
    if (wasRunning) published.publish();
    return wasRunning ? "RUNNING" : "STOPPED";
  }

  /** Ends a run that has reached its time limit as an interrupt does; its status is `error`. Nothing happens while there is time. */
  async endInTime(): Promise<void> {
    const { clock, configuration, hold, writer } = this.#deps;
    await hold.halt(() =>
      writer.command((state) => {
        const limit = timeLimitOf(state, configuration.config);
        if (limit === null || clock.nowMs() < limit.deadlineMs) return { drafts: [] };
        return decideTimeUp(state, limit.detail, this.#working());
      }),
    );
    await this.settle();
  }

  /** Stops further model requests of a paused run; work in progress finishes. */
  #leave(): void {
    const { condensing, hold, log, runner } = this.#deps;
    if (log.state.status === "running" && !hold.isOn) return;
    runner.leave();
    condensing.leave();
  }

  /** The work in progress; the model's partial text may end inside a secret (P13). */
  #working(): { readonly isWorking: boolean; readonly answerText: string } {
    const { configuration, runner } = this.#deps;
    const { isWorking, answerText } = runner;
    return { isWorking, answerText: maskCut(answerText, secretValues(configuration.secrets)) };
  }
}
