import type { Journal, StoredEvent } from "./journal.ts";

export type LogReaderOptions = {
  /** The last event the reader has; 0 starts at the beginning. */
  readonly afterSeq: number;
  /** Events a read brings at most; 100 when not given. */
  readonly batchSize?: number;
};

/**
 * The events of a conversation after a cursor, for ever, in log order, each once. History and news come the same way: read
 * after the cursor, and when nothing is there wait for the doorbell. A slow reader is a cursor that lags; nothing is buffered.
 * Thousands of readers wait at once for news that never come, so one that waits holds no more than itself and its promise (B11).
 */
export class LogReader implements Disposable {
  readonly #journal: Pick<Journal, "read">;
  readonly #conversationId: string;
  readonly #batchSize: number;
  readonly #stopListening: () => void;
  #cursor: number;
  /** Something may be there that was not read. */
  #hasNews = true;
  /** The highest `seq` of a ring; later events ring again. 0 before the first ring. */
  #rungSeq = 0;
  #isStopped = false;
  #isReading = false;
  #waiting: PromiseWithResolvers<readonly StoredEvent[] | null> | null = null;

  constructor(
    journal: Pick<Journal, "read" | "onAppend">,
    conversationId: string,
    options: LogReaderOptions,
  ) {
    this.#journal = journal;
    this.#conversationId = conversationId;
    this.#cursor = options.afterSeq;
    this.#batchSize = options.batchSize ?? 100;
    this.#stopListening = journal.onAppend(conversationId, (lastSeq) => this.#onAppend(lastSeq));
  }

  /** The next events, as soon as there are some; null once the reader is stopped. One call after the other. */
  next(): Promise<readonly StoredEvent[] | null> {
    if (this.#isStopped) return Promise.resolve(null);
    this.#waiting = Promise.withResolvers();
    const { promise } = this.#waiting;
    if (this.#hasNews) void this.#read();
    return promise;
  }

  [Symbol.dispose](): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#stopListening();
    this.#waiting?.resolve(null);
    this.#waiting = null;
  }

  #onAppend(lastSeq: number): void {
    this.#rungSeq = Math.max(this.#rungSeq, lastSeq);
    if (lastSeq <= this.#cursor) return;
    this.#hasNews = true;
    if (this.#waiting !== null && !this.#isReading) void this.#read();
  }

  /** Resolves the waiting read if there are events; never rejects. */
  async #read(): Promise<void> {
    this.#isReading = true;
    try {
      while (this.#hasNews && this.#waiting !== null) {
        // Cleared before the read: a ring during the read means that the read may have missed something.
        this.#hasNews = false;
        const events = await this.#journal.read(this.#conversationId, this.#cursor, this.#batchSize);
        const last = events.at(-1);
        if (last !== undefined) this.#answer(events, last.seq);
      }
    } catch (error) {
      this.#waiting?.reject(error);
      this.#waiting = null;
    } finally {
      this.#isReading = false;
    }
  }

  #answer(events: readonly StoredEvent[], lastSeq: number): void {
    this.#cursor = lastSeq;
    // Without a ring nobody knows where the log ends; with one it is known, and news that were read already are none.
    this.#hasNews = this.#rungSeq === 0 || this.#cursor < this.#rungSeq;
    this.#waiting?.resolve(events);
    this.#waiting = null;
  }
}
