import { Worker } from "node:worker_threads";

/** What the journal needs of its thread: the answers, its end, and the way there. */
export type WriterThread = {
  on(event: "message", listener: (message: unknown) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "exit", listener: () => void): unknown;
  once(event: "error", listener: (error: Error) => void): unknown;
  once(event: "exit", listener: () => void): unknown;
  postMessage(message: unknown): void;
  ref(): void;
  unref(): void;
};

/**
 * Starts the thread that writes a journal, which waits to be told of which data folder. Whoever starts a process may do so before the server
 * is loaded: a thread takes as long to start as half of that, on another core. It keeps no process alive.
 */
export function startWriterThread(): Worker {
  const worker = new Worker(new URL("./worker.ts", import.meta.url));
  worker.unref();
  return worker;
}
