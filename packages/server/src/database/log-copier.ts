import { Worker } from "node:worker_threads";
import type { CopierMessage, CopierOptions } from "./log-copier-worker.ts";

/** A slower disk leaves the log as it is; the next process continues. */
const closeLimitMs = 2_000;

/**
 * Copies the write-ahead log back in a thread of its own: the fsync of the large file takes tens of milliseconds, and no
 * append waits for it there. The thread begins with the first need, so an idle server does not have it.
 */
export class LogCopier implements Disposable {
  readonly #databasePath: string;
  /** 1 once the thread has closed the database. */
  readonly #closed = new Int32Array(new SharedArrayBuffer(4));
  #worker: Worker | null = null;
  /** Ends with what is being copied. */
  #copying: PromiseWithResolvers<void> | null = null;
  #hasFailed = false;

  constructor(databasePath: string) {
    this.#databasePath = databasePath;
  }

  get isCopying(): boolean {
    return this.#copying !== null;
  }

  /** Called while nothing is copied. False when the thread cannot run: then the caller copies itself. */
  start(): boolean {
    if (this.#hasFailed) return false;
    this.#worker ??= this.#open();
    this.#copying = Promise.withResolvers();
    this.#post("copy");
    return true;
  }

  /** The same, until it has ended. */
  async copy(): Promise<void> {
    if (this.start()) await this.#copying?.promise;
  }

  /**
   * What is being copied ends first. Returns when the thread has closed the database: SQLite takes the log away only for the last who
   * closes, and of two that close together each may take the other for one that stays.
   */
  [Symbol.dispose](): void {
    if (this.#worker === null || this.#hasFailed) return;
    this.#worker.ref();
    this.#post("close");
    Atomics.wait(this.#closed, 0, 0, closeLimitMs);
  }

  #open(): Worker {
    const worker = new Worker(new URL("./log-copier-worker.ts", import.meta.url), {
      workerData: { databasePath: this.#databasePath, closed: this.#closed } satisfies CopierOptions,
    });
    worker.unref();
    worker.on("message", (message: unknown) => {
      // `node --watch` sends messages of its own on the same way.
      if (message === "copied") this.#end();
    });
    worker.on("error", () => {
      this.#hasFailed = true;
      this.#end();
    });
    return worker;
  }

  #end(): void {
    this.#copying?.resolve();
    this.#copying = null;
  }

  #post(message: CopierMessage): void {
    this.#worker?.postMessage(message);
  }
}
