import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { isStorageFault, openReaderDatabase } from "../schema.ts";
import { TextIndexer } from "./indexer.ts";
import { isBroken, openTextsWriter, removeTexts } from "./tables.ts";

export type IndexerOptions = {
  readonly journalPath: string;
  readonly textsPath: string;
  /** Whether to check all conversations first, for events that were appended while no thread ran. */
  readonly compares: boolean;
};

export type IndexerMessage =
  | { readonly type: "changed"; readonly ids: readonly string[]; readonly round: number }
  | { readonly type: "make-again" }
  | { readonly type: "close" };

/** How far it is; `round` is that of the last message whose conversations are among the waiting ones, or read. */
export type IndexerState = {
  readonly type: "state";
  readonly round: number;
  readonly isCompared: boolean;
  readonly waiting: number;
  readonly conversations: number;
};

/** The entry of the thread that makes the index of texts: it reads the journal and writes a file of its own. */
class IndexerThread {
  readonly #port: MessagePort;
  readonly #options: IndexerOptions;
  /** The order of reading: what has just changed goes before what nobody has read yet. */
  readonly #changed = new Set<string>();
  readonly #older = new Set<string>();
  #open: ReturnType<typeof openIndexer>;
  #comparing: ReturnType<TextIndexer["compare"]> | null;
  #conversations = 0;
  #round = 0;
  #timer: NodeJS.Timeout | undefined;
  #reportedMs = 0;

  private constructor(port: MessagePort, options: IndexerOptions) {
    this.#port = port;
    this.#options = options;
    this.#open = openIndexer(options);
    this.#comparing = options.compares ? this.#open.indexer.compare() : null;
  }

  /** Works until it is closed. */
  static serve(port: MessagePort, options: IndexerOptions): void {
    const thread = new IndexerThread(port, options);
    port.on("message", (message: IndexerMessage) => thread.#take(message));
    thread.#schedule(0);
  }

  #take(message: IndexerMessage): void {
    if (message.type === "close") {
      clearTimeout(this.#timer);
      this.#open.close();
      this.#port.close();
      return;
    }
    if (message.type === "changed") {
      for (const id of message.ids) this.#changed.add(id);
      this.#round = message.round;
    } else this.#makeAgain();
    this.#schedule(0);
  }

  #schedule(afterMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#work(), afterMs);
  }

  /** Works for a moment, and rests as long: appends and reads have priority. */
  #work(): void {
    const startedMs = performance.now();
    try {
      const isOver = (): boolean => performance.now() - startedMs >= sliceMs;
      while (!isOver() && this.#step(isOver));
    } catch (error) {
      if (!isStorageFault(error)) throw error;
      if (isBroken(error)) this.#makeAgain();
      // A full disk, or one that fails: tried again later, and until then the answers say that something is missing.
      this.#emit();
      this.#schedule(retryMs);
      return;
    }
    const isIdle = this.#comparing === null && this.#changed.size + this.#older.size === 0;
    if (isIdle || performance.now() - this.#reportedMs > reportEveryMs) this.#emit();
    if (!isIdle) this.#schedule(Math.min(performance.now() - startedMs, longestRestMs));
  }

  /** False when there is nothing to do. */
  #step(isOver: () => boolean): boolean {
    const queue = this.#changed.size > 0 ? this.#changed : this.#older;
    if (queue.size > 0 && (queue === this.#changed || this.#comparing === null)) {
      for (const id of this.#open.indexer.runSlice(queue, isOver)) queue.delete(id);
      return true;
    }
    const next = this.#comparing?.next();
    if (next === undefined) return false;
    if (next.done === true) {
      this.#comparing = null;
      return this.#older.size > 0;
    }
    this.#conversations += next.value.compared;
    for (const behind of next.value.behind) this.#older.add(behind);
    return true;
  }

  #makeAgain(): void {
    this.#open.close();
    removeTexts(this.#options.textsPath);
    this.#open = openIndexer(this.#options);
    this.#conversations = 0;
    this.#comparing = this.#open.indexer.compare();
  }

  #emit(): void {
    this.#reportedMs = performance.now();
    this.#port.postMessage({
      type: "state",
      round: this.#round,
      isCompared: this.#comparing === null,
      waiting: this.#changed.size + this.#older.size,
      conversations: this.#conversations,
    } satisfies IndexerState);
  }
}

function openIndexer({ journalPath, textsPath }: IndexerOptions) {
  const journal = openReaderDatabase(journalPath, cacheKibibytes);
  const texts = openTextsWriter(textsPath);
  return {
    indexer: new TextIndexer(journal, texts),
    close: () => {
      texts.close();
      journal.close();
    },
  };
}

/** Each log is read once, from its one end to the other. What a thread takes from the process stays with the process after it. */
const cacheKibibytes = 1024;
const sliceMs = 20;
const longestRestMs = 50;
const reportEveryMs = 200;
const retryMs = 5000;

if (parentPort !== null) IndexerThread.serve(parentPort, workerData as IndexerOptions);
