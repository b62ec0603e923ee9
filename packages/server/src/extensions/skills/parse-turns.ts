import { openTimeLimit, TooSlow } from "../../lib/time-limit.ts";

/** Limits of processor time, for one file and for all files of one reading. */
const maxMsEach = 50;
const maxMs = 1_000;

/**
 * Parsing what somebody else wrote, a file at a time: other work of the server goes on in between, a file that takes too long is cut
 * off, and all files together have a limit.
 */
export class ParseTurns {
  readonly #within = openTimeLimit();
  #leftMs = maxMs;
  #last: Promise<unknown> = Promise.resolve();

  /** Rejects with {@link TooSlow}, or with what the job throws. */
  async take<Result>(job: () => Result): Promise<Result> {
    const turn = this.#last.then(async () => {
      await new Promise<void>((resolve) => setImmediate(resolve));
      return this.#run(job);
    });
    // The caller of this turn gets the error; the next one only waits for its end.
    this.#last = turn.catch(() => {});
    return await turn;
  }

  #run<Result>(job: () => Result): Result {
    if (this.#leftMs < 1) throw new TooSlow("The files before it took too long.");
    const before = process.threadCpuUsage();
    try {
      return this.#within(Math.min(maxMsEach, Math.ceil(this.#leftMs)), job);
    } finally {
      const { user, system } = process.threadCpuUsage(before);
      this.#leftMs -= (user + system) / 1000;
    }
  }
}
