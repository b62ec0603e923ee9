import { orAfter } from "../lib/or-after.ts";

/** How long delegated work may take to stop before a stop is answered. */
const stopGraceMs = 2_000;

/** Delegated work that is being stopped. */
export class StoppingWork {
  readonly #stopping = new Set<Promise<unknown>>();

  add(work: Promise<unknown>): void {
    this.#stopping.add(work);
  }

  /** Resolves when all of it has stopped (P43), after two seconds at most. */
  async stopped(): Promise<void> {
    const all = [...this.#stopping];
    this.#stopping.clear();
    if (all.length === 0) return;
    await orAfter(Promise.allSettled(all), stopGraceMs, null);
  }
}
