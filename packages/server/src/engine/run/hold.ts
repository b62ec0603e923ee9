import { JournalWriteError } from "../../journal/journal.ts";
import { ended } from "../../lib/ended.ts";
import type { Logger } from "../../lib/logger.ts";
import { isDamage } from "../../lib/storage-fault.ts";
import { wait } from "../../lib/wait.ts";

/**
 * Pause, stop and interrupt while the store fails: work is held in memory at once, the caller gets an error that
 * nothing is recorded yet, and the record is written when the store works again.
 */
export class Hold {
  readonly #logger: Logger;
  readonly #ended = new AbortController();
  #record: (() => Promise<void>) | null = null;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** True while a hold is not yet in the log. */
  get isOn(): boolean {
    return this.#record !== null;
  }

  /** Rejects as `record` does; if the store failed, the hold is active. */
  async halt(record: () => Promise<void>): Promise<void> {
    try {
      await record();
    } catch (error) {
      if (error instanceof JournalWriteError) {
        const isTrying = this.isOn;
        this.#record = record;
        if (!isTrying) void this.#recordLater();
      }
      throw error;
    }
  }

  /** Stops recording: the conversation leaves this process. */
  end(): void {
    this.#ended.abort(ended);
  }

  async #recordLater(): Promise<void> {
    for (let delayMs = 100; this.#record !== null; delayMs = Math.min(delayMs * 2, 1000)) {
      await wait(delayMs, this.#ended.signal);
      if (this.#ended.signal.aborted) return;
      try {
        await this.#record();
        this.#record = null;
      } catch (error) {
        this.#logger.error({ error: String(error), retryInMs: delayMs }, "a halt could not be recorded");
        if (!(error instanceof JournalWriteError) || isDamage(error)) this.#record = null;
      }
    }
  }
}
