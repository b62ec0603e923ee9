import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { closeWatch, createMemory, writeNames, type WatchdogShared } from "./watchdog-memory.ts";

/** Names the current work of this process, for the record of a stall. */
export interface Activity {
  /** The main thread works on this now. */
  turnTo(name: string): void;
  /** In progress until it is disposed. */
  begin(name: string): Disposable;
}

/** Where nobody watches. */
export const noActivity: Activity = {
  turnTo: () => {},
  begin: () => ({ [Symbol.dispose]: () => {} }),
};

export type WatchdogOptions = Omit<WatchdogShared, "memory"> & {
  /**
   * Another thread of this process checks beside its own work: a thread of its own costs the memory of a whole runtime.
   */
  readonly isThreadLent: boolean;
  /** The checking thread has failed; the process is no longer watched. */
  readonly onFailure: (error: unknown) => void;
};

/**
 * Ends this process (SIGKILL, after a log line and a record) when its event loop stalls for `limitMs` while it keeps
 * the processor busy. A server that does not even react to SIGTERM is useless; a restarted one is not.
 */
export class Watchdog implements Activity, AsyncDisposable {
  readonly #memory = createMemory();
  readonly #heartbeats = new Int32Array(this.#memory, 0, 1);
  readonly #working = new Map<string, number>();
  readonly #shared: WatchdogShared;
  readonly #worker: Worker | null;
  readonly #timer: NodeJS.Timeout;
  #last: string | null = null;

  constructor(options: WatchdogOptions) {
    const { limitMs, recordFile, isThreadLent, onFailure } = options;
    this.#shared = { limitMs, recordFile, memory: this.#memory };
    const heartbeatMs = Math.min(1_000, Math.max(5, limitMs / 50));
    this.#timer = setInterval(() => void Atomics.add(this.#heartbeats, 0, 1), heartbeatMs).unref();
    this.#worker = isThreadLent ? null : startWorker(this.#shared, onFailure);
  }

  /** The options of the {@link StandstillWatch} in a shared thread; null when the watchdog has its own. */
  get lent(): WatchdogShared | null {
    return this.#worker === null ? this.#shared : null;
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
    this.#worker?.ref();
    const ended = this.#worker === null ? null : once(this.#worker, "exit");
    closeWatch(this.#memory);
    await ended;
  }

  #write(): void {
    writeNames(this.#memory, this.#last, this.#working.keys());
  }
}

function startWorker(shared: WatchdogShared, onFailure: WatchdogOptions["onFailure"]): Worker {
  const url = new URL("./watchdog-worker.ts", import.meta.url);
  const worker = new Worker(url, { workerData: shared, env: {} });
  worker.on("error", onFailure);
  worker.unref();
  return worker;
}
