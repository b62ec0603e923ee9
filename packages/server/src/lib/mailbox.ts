/** Runs jobs one after another in the order they were posted; a failing job fails its own promise only. */
export class Mailbox {
  #tail: Promise<unknown> = Promise.resolve();

  post<Result>(job: () => Promise<Result> | Result): Promise<Result> {
    const result = this.#tail.then(job);
    this.#tail = result.then(ignore, ignore);
    return result;
  }

  /** Resolves when everything posted so far has run. */
  async drain(): Promise<void> {
    await this.#tail;
  }
}

function ignore(): void {
  // The poster holds the promise that carries the outcome.
}
