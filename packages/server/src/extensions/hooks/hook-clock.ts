import { HookTooSlow } from "./run-command.ts";

/** The time that a hook has; it runs at once. */
export class HookClock implements Disposable {
  readonly #seconds: number;
  readonly #late = new AbortController();
  #leftMs: number;
  #sinceMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(seconds: number) {
    this.#seconds = seconds;
    this.#leftMs = seconds * 1000;
    this.#run();
  }

  /** Aborts with {@link HookTooSlow} when it is over. */
  get late(): AbortSignal {
    return this.#late.signal;
  }

  /** Stands still while this is waited for, which must not reject. */
  async stopDuring(waiting: Promise<void>): Promise<void> {
    clearTimeout(this.#timer);
    this.#leftMs -= performance.now() - this.#sinceMs;
    await waiting;
    this.#run();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #run(): void {
    this.#sinceMs = performance.now();
    this.#timer = setTimeout(() => this.#late.abort(new HookTooSlow(this.#seconds)), this.#leftMs);
  }
}
