export type PaintSchedulerDeps = {
  /** Calls back before the next frame is painted. */
  readonly nextFrame: (callback: () => void) => void;
  readonly now: () => number;
  readonly paint: () => void;
};

/**
 * When what came is drawn: events with the next frame, pieces of an answer together, at most ten times a second. A frame for each
 * piece costs a long answer half a core, most of it in laying out and painting, and nobody reads faster for it. The longer a frame
 * takes, the seldomer they come: drawing takes a small share of the time on any machine, however long the answer is.
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
      // The next task comes when what was drawn is laid out and painted.
      setTimeout(() => this.#spent(now() - startMs), 0);
    });
  }

  /** With the next frame when the last one is long enough ago, else with the next beat, which all logs of a page have in common. */
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

  /** What waits to be drawn together is not drawn any more, unless more comes. */
  stop(): void {
    if (this.#later !== null) clearTimeout(this.#later);
    this.#later = null;
  }
}

/** Milliseconds. Pieces do not come oftener either. */
export const minIntervalMs = 100;
const maxIntervals = 4;
/** A frame is drawn no more often than every so many times that it takes. */
const share = 25;
