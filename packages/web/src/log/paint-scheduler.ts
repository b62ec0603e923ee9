export type PaintSchedulerDeps = {
  /** Calls back before the next frame is painted. */
  readonly nextFrame: (callback: () => void) => void;
  readonly now: () => number;
  readonly paint: () => void;
};

/**
 * Schedules renders: events with the next frame, deltas of answers together at most ten times a second. One render
 * per delta costs half a core for a long answer, mostly layout and paint. The longer a frame takes, the rarer the
 * renders, so that they use a small share of the time on any machine.
 */
export class PaintScheduler {
  readonly #deps: PaintSchedulerDeps;
  #isDue = false;
  #later: ReturnType<typeof setTimeout> | null = null;
  #paintedAtMs = -Infinity;
  #intervalMs = minIntervalMs;

  constructor(deps: PaintSchedulerDeps) {
    this.#deps = deps;
  }

  /** With the next frame. */
  soon(): void {
    this.stop();
    if (this.#isDue) return;
    this.#isDue = true;
    const { nextFrame, now, paint } = this.#deps;
    nextFrame(() => {
      this.#isDue = false;
      const startMs = now();
      this.#paintedAtMs = startMs;
      paint();
      // The next task runs after layout and paint.
      setTimeout(() => this.#spent(now() - startMs), 0);
    });
  }

  /**
   * With the next frame if the last one is long enough ago, else with the next tick, which all logs of a page share.
   */
  together(): void {
    if (this.#isDue || this.#later !== null) return;
    const nowMs = this.#deps.now();
    if (nowMs - this.#paintedAtMs >= this.#intervalMs) this.soon();
    else this.#later = setTimeout(() => this.soon(), this.#intervalMs - (nowMs % this.#intervalMs));
  }

  #spent(frameMs: number): void {
    const intervals = Math.ceil((frameMs * share) / minIntervalMs);
    this.#intervalMs = Math.max(1, Math.min(maxIntervals, intervals)) * minIntervalMs;
  }

  /** Cancels the pending render. */
  stop(): void {
    if (this.#later !== null) clearTimeout(this.#later);
    this.#later = null;
  }
}

/** Minimum milliseconds between renders of deltas. */
export const minIntervalMs = 100;
const maxIntervals = 4;
/** Minimum interval as a multiple of the time that a frame takes. */
const share = 25;
