import type { AutomationRunState } from "@convoke/protocol";
import type { AutomationRun } from "./automation.ts";
import type { AutomationStore } from "./automation-store.ts";

/** Reads the runs of one state a part at a time, round and round: none is left out however many there are. */
export class RunRounds {
  readonly #store: Pick<AutomationStore, "runsIn">;
  readonly #state: AutomationRunState;
  readonly #limit: number;
  #afterId: string | null = null;

  constructor(store: Pick<AutomationStore, "runsIn">, state: AutomationRunState, limit: number) {
    this.#store = store;
    this.#state = state;
    this.#limit = limit;
  }

  async next(): Promise<readonly AutomationRun[]> {
    const runs = await this.#store.runsIn(this.#state, { afterId: this.#afterId, limit: this.#limit });
    this.#afterId = runs.length < this.#limit ? null : runs.at(-1)!.id;
    return runs;
  }
}
