import { openTimeLimit, TooSlow } from "../../lib/time-limit.ts";
import { Mailbox } from "../../lib/mailbox.ts";

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
  readonly #turns = new Mailbox();

  /** Rejects with {@link TooSlow}, or with what the job throws. */
  async take<Result>(job: () => Result): Promise<Result> {
    return await this.#turns.post(async () => {
      await new Promise<void>((resolve) => setImmediate(resolve));
      return this.#run(job);
    });
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
