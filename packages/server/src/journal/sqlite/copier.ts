import { Worker } from "node:worker_threads";
import type { CopierMessage } from "./copier-worker.ts";

/**
 * Copies the write-ahead log back in a thread of its own: the fsync of the large file takes tens of milliseconds, and no
 * append waits for it there. The thread begins with the first need, so an idle server does not have it.
 */
export class LogCopier implements Disposable {
  readonly #databasePath: string;
  #worker: Worker | null = null;
  #isCopying = false;
  #hasFailed = false;

  constructor(databasePath: string) {
    this.#databasePath = databasePath;
  }

  get isCopying(): boolean {
    return this.#isCopying;
  }

  /** Called while nothing is copied. False when the thread cannot run: then the caller copies itself. */
  start(): boolean {
    if (this.#hasFailed) return false;
    this.#worker ??= this.#open();
    this.#isCopying = true;
    this.#post("copy");
    return true;
  }

  /** What is being copied ends first; then the thread ends by itself. */
  [Symbol.dispose](): void {
    if (this.#worker === null) return;
    this.#worker.ref();
    this.#post("close");
  }

  #open(): Worker {
    const worker = new Worker(new URL("./copier-worker.ts", import.meta.url), {
      workerData: this.#databasePath,
    });
    worker.unref();
    worker.on("message", (message: unknown) => {
      // `node --watch` sends messages of its own on the same way.
      if (message === "copied") this.#isCopying = false;
    });
    worker.on("error", () => {
      this.#hasFailed = true;
      this.#isCopying = false;
    });
    return worker;
  }

  #post(message: CopierMessage): void {
    this.#worker?.postMessage(message);
  }
}
