/** The approximate time that resumed waiters may take in one turn of the event loop. */
const sliceMs = 8;
/** The assumed cost of one waiter before it is measured. */
const firstGuessMs = 1;
/** The maximum of waiters resumed at once: their cost may have changed. */
const maxAtOnce = 64;
/** The decay of the running average of the cost. */
const forgotten = 0.1;

/**
 * Resumes waiters for the same thing in time slices, in order, so that they do not block the event loop together: as
 * many at once as take a few milliseconds, the rest in the next turns. A few waiters are resumed immediately.
 *
 * Only for speed: B9.stall
 */
export class LoopPace {
  readonly #waiting: (() => void)[] = [];
  readonly #nowMs: () => number;
  /** The time used in this turn of the loop, and the number of resumed waiters that are not measured yet. */
  #usedMs = 0;
  #unmeasured = 0;
  #measuringSinceMs = 0;
  #takenMs = firstGuessMs;
  #taken = 1;
  #isTurnCounted = false;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Calls `resume`, which must not throw, now or in a later turn of the event loop, after all earlier waiters. */
  enter(resume: () => void): void {
    if (!this.#isTurnCounted) this.#countTurn();
    if (this.#waiting.length === 0 && this.#hasTime) this.#resumeOne(resume);
    else this.#waiting.push(resume);
  }

  /** Resolves after all earlier waiters. */
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
      this.#resumeWaiters();
    });
  }

  #resumeWaiters(): void {
    let count = 0;
    while (count < this.#waiting.length && this.#hasTime) {
      this.#resumeOne(this.#waiting[count]!);
      count += 1;
    }
    this.#waiting.splice(0, count);
  }

  #resumeOne(resume: () => void): void {
    if (this.#unmeasured === 0) {
      this.#measuringSinceMs = this.#nowMs();
      // A tick requested in a microtask runs after all microtasks, when the resumed waiters have run as far as they
      // can.
      queueMicrotask(() => process.nextTick(() => this.#measure()));
    }
    this.#unmeasured += 1;
    resume();
  }

  #measure(): void {
    const elapsedMs = this.#nowMs() - this.#measuringSinceMs;
    this.#usedMs += elapsedMs;
    this.#takenMs = this.#takenMs * (1 - forgotten) + elapsedMs;
    this.#taken = this.#taken * (1 - forgotten) + this.#unmeasured;
    this.#unmeasured = 0;
    this.#resumeWaiters();
  }
}
