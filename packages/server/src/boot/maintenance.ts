import type { FaceDeps } from "../faces/face-deps.ts";
import { HeapGrowth } from "../lib/heap-growth.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";
import type { ServerConfig } from "./config.ts";

export type MaintenanceDeps = Pick<
  FaceDeps,
  "directory" | "appConversations" | "cluster" | "retention" | "lastActivityMs" | "logger"
> & {
  readonly config: Pick<ServerConfig, "conversationIdleSeconds" | "retentionSeconds">;
  readonly webhooks: Pick<Webhooks, "check">;
  /** Returns memory to the system. It is slow, so it is called in pauses. */
  readonly releaseMemory: () => void;
  /** Then the growth of the heap is left to the runtime. */
  readonly sharesProcess: boolean;
};

/** How often a server polls for changes by other nodes, and for unfinished runs of nodes that ended. */
const pollEveryMs = 1000;
const heapCheckMs = 1000;

const adoptFailure = "unfinished runs of other nodes could not be checked";
const releaseFailure = "memory could not be released";

/** Runs the periodic maintenance jobs until it is disposed. Does not keep the process alive. */
export function startMaintenance(deps: MaintenanceDeps): Disposable {
  const { config, directory, appConversations, webhooks, cluster, sharesProcess, logger } = deps;
  const idleMs = config.conversationIdleSeconds * 1000;
  const release = createRelease(deps);
  const heapGrowth = new HeapGrowth();
  const report = (failure: string) => (error: unknown) => logger.error({ error: String(error) }, failure);
  const startJob = (everyMs: number, failure: string, work: () => Promise<void>): NodeJS.Timeout =>
    setInterval(() => void work().catch(report(failure)), everyMs).unref();
  const jobs = [
    startJob(pollEveryMs, adoptFailure, () => {
      webhooks.check();
      return directory.adoptOrphans();
    }),
    startJob(pollEveryMs, "unfinished starts of other nodes could not be checked", () =>
      appConversations.resumeStarts(),
    ),
    startJob(sweepEveryMs(idleMs), "idle conversations could not be unloaded", async () => {
      if ((await directory.evictIdle(idleMs)) > 0) release.isDue = true;
    }),
    startJob(config.retentionSeconds * 1000, "retention could not run", async () => {
      await deps.retention.run();
    }),
    startJob(heapCheckMs, "the growth of the heap could not be set", async () => {
      if (!sharesProcess) heapGrowth.check();
    }),
    startJob(restMs / 2, releaseFailure, () => release.check()),
  ];
  const forgetGone = cluster.onGone(
    () => void directory.adoptOrphans({ isExtra: true }).catch(report(adoptFailure)),
  );
  const firstRelease = setTimeout(
    () => void release.checkAfterStart().catch(report(releaseFailure)),
    startRestMs,
  ).unref();
  return {
    [Symbol.dispose]: () => {
      forgetGone();
      clearTimeout(firstRelease);
      for (const timer of jobs) clearInterval(timer);
      heapGrowth[Symbol.dispose]();
    },
  };
}

/** How long after its start a server without any request releases the memory that starting took. */
const startRestMs = 1_000;

/** A pause: that long without a request, and nothing in progress. */
const restMs = 10_000;

/** Releases memory once in each pause, and again when more has become free in it. */
export function createRelease({
  directory,
  lastActivityMs,
  releaseMemory,
}: Pick<MaintenanceDeps, "lastActivityMs" | "releaseMemory"> & {
  readonly directory: Pick<FaceDeps["directory"], "isAtRest">;
}): {
  isDue: boolean;
  check: () => Promise<void>;
  /** Does not wait for a pause. Does nothing when a request came since the start. */
  checkAfterStart: () => Promise<void>;
} {
  let seenMs = lastActivityMs();
  const startedMs = seenMs;
  const release = {
    isDue: false,
    check: async (): Promise<void> => {
      const activeMs = lastActivityMs();
      if (activeMs !== seenMs) release.isDue = true;
      seenMs = activeMs;
      if (!release.isDue || Date.now() - activeMs < restMs || !(await directory.isAtRest())) return;
      release.isDue = false;
      releaseMemory();
    },
    checkAfterStart: async (): Promise<void> => {
      if (lastActivityMs() === startedMs && (await directory.isAtRest())) releaseMemory();
    },
  };
  return release;
}

/** An idle conversation is unloaded late by at most half its idle time, and by at most half a minute. */
function sweepEveryMs(idleMs: number): number {
  return Math.min(30_000, Math.max(100, idleMs / 2));
}
