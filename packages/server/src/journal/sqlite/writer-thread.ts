import { Worker } from "node:worker_threads";

/**
 * Starts the thread that writes a journal, which waits to be told of which data folder. Whoever starts a process may do so before the server
 * is loaded: a thread takes as long to start as half of that, on another core. It keeps no process alive.
 */
export function startWriterThread(): Worker {
  const worker = new Worker(new URL("./worker.ts", import.meta.url));
  worker.unref();
  return worker;
}
