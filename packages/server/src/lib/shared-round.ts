/**
 * Runs work once for all concurrent callers. A caller during a round waits for the next one, because the running round
 * may have begun too early for it.
 */
export class SharedRound {
  readonly #work: () => Promise<void>;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Resolves or rejects with a round that began after the call. */
  async ask(): Promise<void> {
    if (this.#running === null) await this.#start();
    else await (this.#next ??= this.#after(this.#running));
  }

  async #after(running: Promise<void>): Promise<void> {
    await running.catch(() => {}); // The callers of that round get the error.
    this.#next = null;
    await this.#start();
  }

  async #start(): Promise<void> {
    this.#running = this.#work();
    try {
      await this.#running;
    } finally {
      this.#running = null;
    }
  }
}
