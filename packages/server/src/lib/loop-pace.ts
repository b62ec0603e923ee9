/** So long others may go on in one turn of the event loop, about. */
const sliceMs = 8;
/** What it costs that one goes on, until it was measured. */
const firstGuessMs = 1;
/** So many at once, at most: what it costs them may have changed. */
const maxAtOnce = 64;
/** How much of what was measured is forgotten with each measurement. */
const forgotten = 0.1;

/**
 * Lets many go on that waited for the same thing, in the order in which they came, without holding the event loop for all of them in one
 * piece: as many at once as took a few milliseconds before, the rest in the next turns. Few go on at once, as if this were not there.
 *
 * Only for speed: B9.stall
 */
export class LoopPace {
  readonly #waiting: (() => void)[] = [];
  readonly #nowMs: () => number;
  /** What this turn of the loop has taken, and how many it has let on that are not in it yet. */
  #usedMs = 0;
  #unmeasured = 0;
  #measuringSinceMs = 0;
  #takenMs = firstGuessMs;
  #taken = 1;
  #isTurnCounted = false;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Calls `goOn`, which must not throw, now or in a later turn of the event loop; after all that came before. */
  enter(goOn: () => void): void {
    if (!this.#isTurnCounted) this.#countTurn();
    if (this.#waiting.length === 0 && this.#hasTime) this.#letOn(goOn);
    else this.#waiting.push(goOn);
  }

  /** Resolves after all that came before. */
  async pass(): Promise<void> {
    await new Promise<void>((resolve) => this.enter(resolve));
  }

  get #hasTime(): boolean {
    const expectedMs = (this.#unmeasured * this.#takenMs) / this.#taken;
    return this.#unmeasured < maxAtOnce && this.#usedMs + expectedMs < sliceMs;
  }

  #countTurn(): void {
    this.#isTurnCounted = true;
    setImmediate(() => {
      this.#usedMs = 0;
      this.#isTurnCounted = false;
      if (this.#waiting.length > 0) this.#countTurn();
      this.#goOn();
    });
  }

  #goOn(): void {
    let count = 0;
    while (count < this.#waiting.length && this.#hasTime) {
      this.#letOn(this.#waiting[count]!);
      count += 1;
    }
    this.#waiting.splice(0, count);
  }

  #letOn(goOn: () => void): void {
    if (this.#unmeasured === 0) {
      this.#measuringSinceMs = this.#nowMs();
      // A tick that a microtask asks for comes when all microtasks are through: whoever goes on has gone as far as it can.
      queueMicrotask(() => process.nextTick(() => this.#measure()));
    }
    this.#unmeasured += 1;
    goOn();
  }

  #measure(): void {
    const elapsedMs = this.#nowMs() - this.#measuringSinceMs;
    this.#usedMs += elapsedMs;
    this.#takenMs = this.#takenMs * (1 - forgotten) + elapsedMs;
    this.#taken = this.#taken * (1 - forgotten) + this.#unmeasured;
    this.#unmeasured = 0;
    this.#goOn();
  }
}
