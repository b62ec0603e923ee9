import { parentPort } from "node:worker_threads";
import type { WriterBeginning } from "./requests.ts";
import { serveWriter } from "./serve-writer.ts";

// The entry of the writer thread.
parentPort?.once("message", ({ options }: WriterBeginning) => serveWriter(parentPort!, options));
