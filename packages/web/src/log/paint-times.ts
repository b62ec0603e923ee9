export type PaintTimesDeps = {
  /** Calls back before the next frame is painted. */
  readonly nextFrame: (callback: () => void) => void;
  readonly now: () => number;
  readonly paint: () => void;
};

/**
 * When what came is drawn: events with the next frame, pieces of an answer together, ten times a second. A frame for each piece
 * costs a long answer half a core, most of it in laying out and painting, and nobody reads faster for it.
 */
export class PaintTimes {
  readonly #deps: PaintTimesDeps;
  #isDue = false;
  #later: ReturnType<typeof setTimeout> | null = null;
  #paintedAtMs = -Infinity;

  constructor(deps: PaintTimesDeps) {
    this.#deps = deps;
  }

  /** With the next frame. */
  soon(): void {
    this.stop();
    if (this.#isDue) return;
    this.#isDue = true;
    this.#deps.nextFrame(() => {
      this.#isDue = false;
      this.#paintedAtMs = this.#deps.now();
      this.#deps.paint();
    });
  }

  /** With the next frame when the last one is long enough ago, else with the next beat, which all logs of a page have in common. */
  together(): void {
    if (this.#isDue || this.#later !== null) return;
    const nowMs = this.#deps.now();
    if (nowMs - this.#paintedAtMs >= togetherMs) this.soon();
    else this.#later = setTimeout(() => this.soon(), togetherMs - (nowMs % togetherMs));
  }

  /** What waits to be drawn together is not drawn any more, unless more comes. */
  stop(): void {
    if (this.#later !== null) clearTimeout(this.#later);
    this.#later = null;
  }
}

const togetherMs = 100;
