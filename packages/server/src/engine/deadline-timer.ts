import type { Clock } from "../lib/clock.ts";

/** A timer for a deadline by the clock; does not keep the process alive. */
export class DeadlineTimer {
  readonly #clock: Clock;
  readonly #onDeadline: () => void;
  #timer: NodeJS.Timeout | undefined;
  #deadlineMs: number | null = null;

  constructor(clock: Clock, onDeadline: () => void) {
    this.#clock = clock;
    this.#onDeadline = onDeadline;
  }

  /** True while a deadline is pending. */
  get isSet(): boolean {
    return this.#deadlineMs !== null;
  }

  /** Sets the deadline in epoch milliseconds; null stops it. A past deadline fires at once. */
  set(deadlineMs: number | null): void {
    if (deadlineMs === this.#deadlineMs) return;
    clearTimeout(this.#timer);
    this.#deadlineMs = deadlineMs;
    if (deadlineMs === null) return;
    // Timers are limited to 2^31 ms; a later deadline is checked again then.
    const leftMs = Math.min(2 ** 31 - 1, Math.max(0, deadlineMs - this.#clock.nowMs()));
    this.#timer = setTimeout(() => {
      this.#deadlineMs = null;
      if (this.#clock.nowMs() < deadlineMs) this.set(deadlineMs);
      else this.#onDeadline();
    }, leftMs);
    this.#timer.unref();
  }
}
