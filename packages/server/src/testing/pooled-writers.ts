import { EventEmitter } from "node:events";
import { MessageChannel, Worker, type MessagePort } from "node:worker_threads";
import type { WriterThread } from "../journal/sqlite/writer-thread.ts";

const idle: Worker[] = [];

/**
 * A writer thread of this process for one journal. When that is closed, the next journal gets the same thread: a thread takes half of the
 * processor time in which a server of a test starts.
 */
export function takeWriterThread(): WriterThread {
  const worker = idle.pop() ?? new Worker(new URL("./pooled-writer-worker.ts", import.meta.url));
  worker.unref();
  return new PooledWriter(worker);
}

/** Ends the threads that write no journal, with their open files: for tests that look what was left. */
export async function endIdleWriters(): Promise<void> {
  await Promise.all(idle.splice(0).map((worker) => worker.terminate()));
}

class PooledWriter extends EventEmitter implements WriterThread {
  readonly #port: MessagePort;

  constructor(worker: Worker) {
    super();
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    let hasFailed = false;
    const onError = (error: unknown): void => {
      hasFailed = true;
      this.emit("error", error);
    };
    worker.once("error", onError);
    port1.on("message", (message) => this.emit("message", message));
    port1.once("close", () => {
      worker.off("error", onError);
      if (!hasFailed) idle.push(worker);
      this.emit("exit");
    });
    worker.postMessage(port2, [port2]);
  }

  postMessage(message: unknown): void {
    this.#port.postMessage(message);
  }

  ref(): void {
    this.#port.ref();
  }

  unref(): void {
    this.#port.unref();
  }
}
