import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { startTestServer } from "../../packages/server/src/testing/start-server.ts";

export type ServerRequest =
  | { readonly type: "watch" }
  | { readonly type: "read"; readonly isCollected: boolean };

/** Memory in megabytes. */
export type ServerReading = {
  readonly residentMegabytes: number;
  readonly mostResidentMegabytes: number;
  /** How long the event loop was busy with one thing, at most. */
  readonly longestStallMs: number;
};

export type ServerAddress = { readonly url: string; readonly key: string; readonly workDir: string };

export type ServerReport = ServerAddress | ServerReading;

const megabyte = 1024 * 1024;
const samplePeriodMs = 10;

const server = await startTestServer();
const delays = monitorEventLoopDelay({ resolution: samplePeriodMs });
delays.enable();
let mostResident = 0;
const sampling = setInterval(() => {
  mostResident = Math.max(mostResident, process.memoryUsage.rss());
}, samplePeriodMs);

process.on("message", (request: ServerRequest) => {
  if (request.type === "watch") {
    mostResident = process.memoryUsage.rss();
    delays.reset();
  } else if (request.isCollected) {
    globalThis.gc?.();
    globalThis.gc?.();
  }
  report({
    residentMegabytes: process.memoryUsage.rss() / megabyte,
    mostResidentMegabytes: mostResident / megabyte,
    // What is measured is the time between two looks, which are a period apart even in an idle process.
    longestStallMs: Math.max(0, delays.max / 1e6 - samplePeriodMs),
  });
});
process.once("disconnect", () => {
  clearInterval(sampling);
  void server[Symbol.asyncDispose]().then(() => process.exit(0));
});
report({ url: server.url, key: server.key, workDir: join(server.folder, "work") });

function report(message: ServerReport): void {
  process.send?.(message);
}
