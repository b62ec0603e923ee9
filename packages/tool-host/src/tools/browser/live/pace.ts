/** Passes on the newest of many values, at most one per interval; the last value is always passed on. */
export class Pace<Value> implements Disposable {
  readonly #everyMs: number;
  readonly #give: (value: Value) => void;
  #timer: NodeJS.Timeout | undefined;
  #waiting: { readonly value: Value } | undefined;

  constructor(everyMs: number, give: (value: Value) => void) {
    this.#everyMs = everyMs;
    this.#give = give;
  }

  offer(value: Value): void {
    this.#waiting = { value };
    if (this.#timer === undefined) this.#next();
  }

  /** Drops a waiting value. */
  clear(): void {
    this.#waiting = undefined;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting = undefined;
  }

  #next(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#timer = undefined;
    if (waiting === undefined) return;
    this.#timer = setTimeout(() => this.#next(), this.#everyMs);
    this.#timer.unref();
    this.#give(waiting.value);
  }
}
