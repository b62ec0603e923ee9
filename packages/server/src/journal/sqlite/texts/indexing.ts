import { Worker } from "node:worker_threads";
import type { IndexerMessage, IndexerOptions, IndexerState } from "./indexer-worker.ts";

export type IndexingOptions = {
  readonly journalPath: string;
  readonly textsPath: string;
  /** How long after a commit it is read; null: nothing is read before the first search. */
  readonly startAfterMs: number | null;
};

/**
 * The way to the thread that makes the index of texts. It is there while there is something to read: some time after commits,
 * for what former processes left, and as soon as somebody searches.
 */
export class TextIndexing implements AsyncDisposable {
  readonly #options: IndexingOptions;
  readonly #unsent = new Set<string>();
  readonly #compared = Promise.withResolvers<void>();
  #worker: Worker | null = null;
  #exited: Promise<void> = Promise.resolve();
  #state: IndexerState | null = null;
  #round = 0;
  #hasCompared = false;
  #hasFailedAtMs = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #dueMs = Infinity;
  #isClosed = false;

  constructor(options: IndexingOptions) {
    this.#options = options;
    if (options.startAfterMs !== null) this.#sendAfter(options.startAfterMs * backlogDelayFactor);
  }

  /** The events of the conversation, or it itself, are not what they were. */
  noteChange(conversationId: string): void {
    this.#unsent.add(conversationId);
    if (this.#worker !== null) this.#sendAfter(gatherMs);
    else if (this.#options.startAfterMs !== null) this.#sendAfter(this.#options.startAfterMs);
  }

  /** Reads what is not read yet, without waiting; resolves when it is known how much that is, or after a second. */
  async poll(): Promise<void> {
    this.#send();
    if (this.#hasCompared) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, maxPollMs);
    await Promise.race([this.#compared.promise, promise]);
    clearTimeout(timer);
  }

  /** The index cannot be read. */
  makeAgain(): void {
    this.#send();
    this.#hasCompared = false;
    this.#post({ type: "make-again" });
  }

  get progress(): Pick<IndexerState, "waiting" | "conversations"> & { readonly isComplete: boolean } {
    const { waiting = 0, conversations = 0, round = 0 } = this.#state ?? {};
    const isComplete = this.#hasCompared && waiting === 0 && round === this.#round && this.#unsent.size === 0;
    return { waiting, conversations, isComplete };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#compared.resolve();
    this.#close();
    await this.#exited;
  }

  /** The earliest of what was asked for counts. */
  #sendAfter(ms: number): void {
    const dueMs = performance.now() + ms;
    if (this.#timer !== undefined && this.#dueMs <= dueMs) return;
    clearTimeout(this.#timer);
    this.#dueMs = dueMs;
    this.#timer = setTimeout(() => this.#send(), ms).unref();
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isClosed || performance.now() - this.#hasFailedAtMs < restartMs) return;
    if (this.#worker === null) {
      if (this.#hasCompared && this.#unsent.size === 0) return;
      this.#worker = this.#open();
    }
    if (this.#unsent.size === 0) return;
    this.#round += 1;
    this.#post({ type: "changed", ids: [...this.#unsent], round: this.#round });
    this.#unsent.clear();
  }

  #open(): Worker {
    const { journalPath, textsPath } = this.#options;
    const workerData: IndexerOptions = { journalPath, textsPath, compares: !this.#hasCompared };
    const worker = new Worker(new URL("./indexer-worker.ts", import.meta.url), {
      workerData,
      resourceLimits: { maxYoungGenerationSizeMb: youngMegabytes },
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#exited;
    this.#exited = promise.then(() => before);
    // What it reads can be read by the next process.
    worker.unref();
    let idle: NodeJS.Timeout | undefined;
    worker.on("message", (state: Partial<IndexerState>) => {
      // `node --watch` sends messages of its own on the same way.
      if (state.type !== "state") return;
      this.#note(state as IndexerState);
      clearTimeout(idle);
      if (this.progress.isComplete) idle = setTimeout(() => this.#closeIdle(worker), idleMs).unref();
    });
    worker.on("error", () => {
      // It is begun again, and compares everything; until then the answers say that something is missing.
      this.#hasFailedAtMs = performance.now();
      this.#hasCompared = false;
    });
    worker.on("exit", () => {
      clearTimeout(idle);
      if (this.#worker === worker) this.#worker = null;
      resolve();
    });
    return worker;
  }

  #note(state: IndexerState): void {
    // A thread that did not compare knows of the changed ones only.
    const { conversations } = state.conversations > 0 ? state : (this.#state ?? state);
    this.#state = { ...state, conversations };
    if (!state.isCompared) return;
    this.#hasCompared = true;
    this.#compared.resolve();
  }

  #closeIdle(worker: Worker): void {
    if (this.#worker === worker && this.progress.isComplete) this.#close();
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.#worker?.ref();
    this.#post({ type: "close" });
    this.#worker = null;
  }

  #post(message: IndexerMessage): void {
    this.#worker?.postMessage(message);
  }
}

/** It has time, and keeps nothing of what it reads. */
const youngMegabytes = 4;
/** What former processes left has waited before: it lets a start end, and its memory be given back, first. A search does not wait for it. */
const backlogDelayFactor = 5;
const gatherMs = 500;
const maxPollMs = 1000;
const idleMs = 20_000;
const restartMs = 10_000;
