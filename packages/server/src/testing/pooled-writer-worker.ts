import { parentPort, type MessagePort } from "node:worker_threads";
import type { WriterBeginning } from "../journal/sqlite/requests.ts";
import { serveWriter } from "../journal/sqlite/serve-writer.ts";

// The entry of a thread that writes one journal after another, each through a port of its own.
parentPort?.on("message", (port: MessagePort) =>
  port.once("message", ({ options }: WriterBeginning) => serveWriter(port, options)),
);
