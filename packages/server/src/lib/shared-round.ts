/**
 * Does a piece of work once for all that ask at the same time. Whoever asks while it is being done waits for the next round,
 * because this one may have begun before what they asked for.
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
    await running.catch(() => {}); // Told to those who asked for that round.
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
