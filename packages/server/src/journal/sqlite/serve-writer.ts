import { receiveMessageOnPort, type MessagePort } from "node:worker_threads";
import { openWholeCollector } from "../../lib/collect-young.ts";
import { StandstillWatch } from "../../lib/standstill-watch.ts";
import { LogCopier } from "../../database/log-copier.ts";
import { NodeLocks } from "./lease.ts";
import type { OpenFailure, WriterMessage, WriterOptions, WriterReply, WriteRequest } from "./requests.ts";
import { openWriterDatabase } from "./schema.ts";
import { Writer } from "./writer.ts";

/** Opens the journal's database in this thread, and writes what comes through `port` until it is told to close, or the port is closed. */
export function serveWriter(port: MessagePort, options: WriterOptions): void {
  try {
    serve(port, options);
  } catch (error) {
    const failure = toOpenFailure(error, options.databasePath);
    port.postMessage({ type: "failed", failure } satisfies WriterReply);
    port.close();
  }
}

/** What arrives while a transaction commits goes together into the next one. */
function serve(port: MessagePort, options: WriterOptions): void {
  const writer = openWriter(options);
  if (options.watch !== null) new StandstillWatch(options.watch).shareThread();
  const collect = openWholeCollector();
  let immediate: NodeJS.Immediate | undefined;
  let restTimer: NodeJS.Timeout | undefined;

  /** One slice of background work after each group, the rest of it between messages, then a pause. */
  const tidy = (): void => {
    clearImmediate(immediate);
    clearTimeout(restTimer);
    if (writer.tidy()) immediate = setImmediate(tidy);
    else restTimer = setTimeout(rest, restAfterMs);
  };
  const rest = (): void => {
    writer.startRest();
    finish();
  };
  const finish = (): void => {
    if (writer.tidy()) immediate = setImmediate(finish);
    else if (!writer.truncateLog()) restTimer = setTimeout(rest, restAfterMs);
    else restTimer = setTimeout(release, releaseAfterMs);
  };
  const release = (): void => {
    writer.releaseMemory();
    collect?.();
  };
  const close = (): void => {
    clearImmediate(immediate);
    clearTimeout(restTimer);
    writer[Symbol.dispose]();
    port.close();
  };

  port.on("message", (first: WriterMessage) => {
    const { requests, isClosing } = takeGroup(port, first);
    if (requests.length > 0) {
      port.postMessage({ type: "outcomes", outcomes: writer.write(requests) } satisfies WriterReply);
    }
    if (isClosing) close();
    else tidy();
  });
  port.postMessage({ type: "ready" } satisfies WriterReply);
  tidy();
}

const groupLimit = 1000;
const restAfterMs = 1000;
const releaseAfterMs = 10_000;

function openWriter(options: WriterOptions): Writer {
  const database = openWriterDatabase(options.databasePath);
  try {
    // Nodes come and go one at a time, so that nobody meets a lock file that is not locked yet.
    database.exec("BEGIN IMMEDIATE");
    const locks = NodeLocks.open(options.nodesFolder, options.nodeId, options.databasePath);
    database.exec("COMMIT");
    const copier = new LogCopier(options.databasePath);
    return new Writer({ database, locks, copier, nodeId: options.nodeId, roundSize: options.roundSize });
  } catch (error) {
    database.close();
    throw error;
  }
}

function takeGroup(
  port: MessagePort,
  first: WriterMessage,
): { requests: WriteRequest[]; isClosing: boolean } {
  const requests: WriteRequest[] = [];
  let message: WriterMessage | undefined = first;
  while (message !== undefined) {
    if (message.type === "close") return { requests, isClosing: true };
    requests.push(...message.requests);
    if (requests.length >= groupLimit) break;
    message = receiveMessageOnPort(port)?.message;
  }
  return { requests, isClosing: false };
}

function toOpenFailure(error: unknown, databasePath: string): OpenFailure {
  if (!(error instanceof Error)) return { message: String(error), path: databasePath };
  return {
    message: error.message,
    path: "path" in error ? String(error.path) : databasePath,
    // Its presence says that SQLite failed.
    ...("errcode" in error ? { errcode: Number(error.errcode) } : {}),
    ...("code" in error ? { code: String(error.code) } : {}),
  };
}
