import type { Clock } from "../../lib/clock.ts";

/** Rings when the time for an answer is over; never holds the process up. */
export class ApprovalClock {
  readonly #clock: Clock;
  readonly #onDeadline: () => void;
  #timer: NodeJS.Timeout | undefined;
  #deadlineMs: number | null = null;

  constructor(clock: Clock, onDeadline: () => void) {
    this.#clock = clock;
    this.#onDeadline = onDeadline;
  }

  /** True while an answer is due. */
  get isSet(): boolean {
    return this.#deadlineMs !== null;
  }

  /** Epoch milliseconds; null stops it. A moment that is past rings at once. */
  set(deadlineMs: number | null): void {
    if (deadlineMs === this.#deadlineMs) return;
    clearTimeout(this.#timer);
    this.#deadlineMs = deadlineMs;
    if (deadlineMs === null) return;
    // Timers hold at most 2^31 ms; a later deadline is looked at again then.
    const leftMs = Math.min(2 ** 31 - 1, Math.max(0, deadlineMs - this.#clock.nowMs()));
    this.#timer = setTimeout(() => {
      this.#deadlineMs = null;
      if (this.#clock.nowMs() < deadlineMs) this.set(deadlineMs);
      else this.#onDeadline();
    }, leftMs);
    this.#timer.unref();
  }
}
