import type { Clock } from "../lib/clock.ts";

/** A smaller step back is one of those by which machines correct their clocks. */
const leastStepMs = 30_000;

/** Notices that the clock was set back. */
export class ClockWatch {
  readonly #clock: Clock;
  #latestMs = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True once after each step. */
  hasGoneBack(): boolean {
    const nowMs = this.#clock.nowMs();
    const hasGoneBack = nowMs < this.#latestMs - leastStepMs;
    this.#latestMs = hasGoneBack ? nowMs : Math.max(this.#latestMs, nowMs);
    return hasGoneBack;
  }
}
