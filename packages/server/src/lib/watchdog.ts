import { Worker } from "node:worker_threads";
import { closeWatch, createMemory, writeNames, type WatchdogShared } from "./watchdog-memory.ts";

/** Names the work of this process for whoever must end it. */
export interface Activity {
  /** The main thread turns to this now. */
  turnTo(name: string): void;
  /** In progress until it is disposed. */
  begin(name: string): Disposable;
}

export type WatchdogOptions = Omit<WatchdogShared, "memory"> & {
  /** The thread that watches has failed; nobody watches from there on. */
  readonly onFailure: (error: unknown) => void;
};

/**
 * Ends this process (SIGKILL, after a line in the log and a record) when its event loop stands still for `limitMs` of time in which it
 * also keeps the processor busy. A server that nobody can reach, not even with SIGTERM, helps nobody; one that starts again does.
 */
export function openWatchdog(options: WatchdogOptions): Watchdog {
  return new Watchdog(options);
}

export class Watchdog implements Activity, AsyncDisposable {
  readonly #memory = createMemory();
  readonly #beats = new Int32Array(this.#memory, 0, 1);
  readonly #working = new Map<string, number>();
  readonly #worker: Worker;
  readonly #timer: NodeJS.Timeout;
  readonly #ended: Promise<unknown>;
  #last: string | null = null;

  constructor(options: WatchdogOptions) {
    const { limitMs, recordFile, onFailure } = options;
    const shared: WatchdogShared = { limitMs, recordFile, memory: this.#memory };
    this.#timer = setInterval(() => this.#beat(), Math.min(1_000, Math.max(5, limitMs / 50))).unref();
    this.#worker = new Worker(new URL("./watchdog-worker.ts", import.meta.url), {
      workerData: shared,
      env: {},
    });
    this.#worker.on("error", onFailure);
    this.#worker.unref();
    this.#ended = new Promise((resolve) => {
      this.#worker.once("exit", resolve);
    });
  }

  turnTo(name: string): void {
    if (this.#last === name) return;
    this.#last = name;
    this.#write();
  }

  begin(name: string): Disposable {
    this.#last = name;
    this.#working.set(name, (this.#working.get(name) ?? 0) + 1);
    this.#write();
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (isOver) return;
        isOver = true;
        const left = (this.#working.get(name) ?? 1) - 1;
        if (left > 0) this.#working.set(name, left);
        else this.#working.delete(name);
        this.#write();
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    // A process that waits for the end of a thread must not end before it.
    this.#worker.ref();
    closeWatch(this.#memory);
    await this.#ended;
  }

  #beat(): void {
    Atomics.add(this.#beats, 0, 1);
  }

  #write(): void {
    writeNames(this.#memory, this.#last, this.#working.keys());
  }
}
