import { describeError } from "../lib/describe-error.ts";
import type { Logger } from "../lib/logger.ts";
import { Slots } from "../lib/slots.ts";
import type { AutomationRun } from "./automation.ts";
import type { RunStarter } from "./run-starter.ts";

export type RunningStartsDeps = {
  readonly starter: Pick<RunStarter, "start">;
  readonly signal: AbortSignal;
  readonly logger: Logger;
};

const parallelStarts = 8;
/** Claimed runs beyond this number are left to other nodes, or to a later moment. */
const maxStarts = 64;

/** The runs that this process is starting; each is started once at a time. */
export class RunningStarts {
  readonly #deps: RunningStartsDeps;
  readonly #slots: Slots;
  readonly #starts = new Map<string, Promise<void>>();

  constructor(deps: RunningStartsDeps) {
    this.#deps = deps;
    this.#slots = new Slots(parallelStarts, deps.signal);
  }

  has(runId: string): boolean {
    return this.#starts.has(runId);
  }

  begin(runs: readonly AutomationRun[]): void {
    for (const run of runs) {
      if (this.#starts.has(run.id) || this.#deps.signal.aborted) continue;
      const start = this.#start(run).finally(() => this.#starts.delete(run.id));
      this.#starts.set(run.id, start);
    }
  }

  /** Resolves when more runs may be claimed here. */
  async untilRoom(): Promise<void> {
    while (this.#starts.size >= maxStarts) await Promise.race(this.#starts.values());
  }

  async settled(): Promise<void> {
    await Promise.all(this.#starts.values());
  }

  async #start(run: AutomationRun): Promise<void> {
    using _slot = await this.#slots.take();
    if (this.#deps.signal.aborted) return;
    try {
      await this.#deps.starter.start(run);
    } catch (error) {
      // The run stays claimed, and is tried again.
      const fields = { automation: run.automationId, run: run.id, error: describeError(error) };
      this.#deps.logger.warn(fields, "a run was not started yet");
    }
  }
}
