/** A semaphore; waiters are served in order. */
export class Slots {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  /** When the signal aborts, waiters continue without a slot. */
  constructor(count: number, signal: AbortSignal) {
    this.#free = count;
    signal.addEventListener("abort", () => {
      for (const next of this.#waiting.splice(0)) next();
    });
  }

  /** Resolves when it is the caller's turn, until the slot is disposed of. */
  async take(): Promise<Disposable> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return { [Symbol.dispose]: () => this.#leave() };
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
