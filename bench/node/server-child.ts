import { join } from "node:path";
import { monitorEventLoopDelay, PerformanceObserver } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { openWholeCollector } from "../../packages/server/src/lib/collect-young.ts";
import { startTestServer } from "../../packages/server/src/testing/start-server.ts";

export type ServerRequest = { readonly type: "watch" } | ({ readonly type: "read" } & ReadOptions);

export type ReadOptions = {
  /** Collects garbage before the reading. */
  readonly isCollected: boolean;
  /** Also frees what the young heap took for a burst, like a server at rest. */
  readonly isAtRest?: boolean;
};

/** Memory in megabytes. */
export type ServerReading = {
  readonly residentMegabytes: number;
  readonly maxResidentMegabytes: number;
  /** Longest time that the event loop was busy with one task. */
  readonly longestStallMs: number;
  readonly stallP999Ms: number;
  /** Maximum processor time of its thread between two samples: a stall without the wait for a core. */
  readonly busiestMs: number;
  /** Duration of garbage collections, the longest and all of them. */
  readonly longestPauseMs: number;
  readonly pausedMs: number;
  /** Heap growth between samples; garbage collected in between is missing. */
  readonly allocatedMegabytes: number;
};

export type ServerAddress = { readonly url: string; readonly key: string; readonly workDir: string };

export type ServerReport = ServerAddress | ServerReading;

const megabyte = 1024 * 1024;
const samplePeriodMs = 10;

const server = await startTestServer();
const delays = monitorEventLoopDelay({ resolution: samplePeriodMs });
delays.enable();
let maxResident = 0;
let heap = 0;
let allocated = 0;
let processor = process.threadCpuUsage();
let busiestMs = 0;
let longestPauseMs = 0;
let pausedMs = 0;
const sampling = setInterval(() => {
  maxResident = Math.max(maxResident, process.memoryUsage.rss());
  const { used_heap_size: used } = getHeapStatistics();
  allocated += Math.max(0, used - heap);
  heap = used;
  const { user, system } = process.threadCpuUsage(processor);
  processor = process.threadCpuUsage();
  busiestMs = Math.max(busiestMs, (user + system) / 1000);
}, samplePeriodMs);
const pauses = new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) {
    longestPauseMs = Math.max(longestPauseMs, duration);
    pausedMs += duration;
  }
});
pauses.observe({ entryTypes: ["gc"] });

process.on("message", (request: ServerRequest) => {
  if (request.type === "watch") {
    maxResident = process.memoryUsage.rss();
    [allocated, busiestMs, longestPauseMs, pausedMs] = [0, 0, 0, 0];
    delays.reset();
  } else if (request.isCollected) {
    const collect = request.isAtRest === true ? openWholeCollector() : globalThis.gc;
    collect?.();
    collect?.();
  }
  report({
    residentMegabytes: process.memoryUsage.rss() / megabyte,
    maxResidentMegabytes: maxResident / megabyte,
    // The time between two samples is measured, which are one period apart even in an idle process.
    longestStallMs: Math.max(0, delays.max / 1e6 - samplePeriodMs),
    stallP999Ms: Math.max(0, delays.percentile(99.9) / 1e6 - samplePeriodMs),
    busiestMs,
    longestPauseMs,
    pausedMs,
    allocatedMegabytes: allocated / megabyte,
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
