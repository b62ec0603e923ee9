import type { OpenAppConversations } from "../app-conversations/open-app-conversations.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Directory } from "../directory/directory.ts";
import { HeapGrowth } from "../lib/heap-growth.ts";
import type { Logger } from "../lib/logger.ts";
import type { Retention } from "../retention/retention.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";

export type MaintenanceDeps = {
  readonly directory: Pick<Directory, "adoptOrphans" | "evictIdle" | "isAtRest">;
  readonly appConversations: Pick<OpenAppConversations, "resumeStarts">;
  readonly webhooks: Pick<Webhooks, "check">;
  readonly cluster: Pick<Cluster, "onGone">;
  /** The time of the last request, in epoch milliseconds. */
  readonly lastActivityMs: () => number;
  /** Returns memory to the system. It is slow, so it is called in pauses. */
  readonly releaseMemory: () => void;
  /** Then the growth of the heap is left to the runtime. */
  readonly sharesProcess: boolean;
  /** Conversations that were unused for that long are unloaded. */
  readonly conversationIdleSeconds: number;
  readonly retention: Pick<Retention, "run">;
  /** How often the rules of retention are applied. */
  readonly retentionSeconds: number;
  readonly logger: Logger;
};

/** How often a server polls for changes by other nodes, and for unfinished runs of nodes that ended. */
const pollEveryMs = 1000;
const heapCheckMs = 1000;

/** Runs the periodic maintenance jobs until it is disposed. Does not keep the process alive. */
export function startMaintenance(deps: MaintenanceDeps): Disposable {
  const { directory, appConversations, webhooks, cluster, conversationIdleSeconds, sharesProcess, logger } =
    deps;
  const onAdoptFailure = (error: unknown): void =>
    logger.error({ error: String(error) }, "unfinished runs of other nodes could not be checked");
  const idleMs = conversationIdleSeconds * 1000;
  const release = createRelease(deps);
  const heapGrowth = new HeapGrowth();
  const jobs = [
    startJob(
      pollEveryMs,
      () => {
        webhooks.check();
        return directory.adoptOrphans();
      },
      onAdoptFailure,
    ),
    startJob(
      pollEveryMs,
      () => appConversations.resumeStarts(),
      (error) => {
        logger.error({ error }, "unfinished starts of other nodes could not be checked");
      },
    ),
    startJob(
      sweepEveryMs(idleMs),
      async () => {
        if ((await directory.evictIdle(idleMs)) > 0) release.isDue = true;
      },
      (error) => {
        logger.error({ error }, "idle conversations could not be unloaded");
      },
    ),
    startJob(
      deps.retentionSeconds * 1000,
      async () => void (await deps.retention.run()),
      (error) => {
        logger.error({ error }, "retention could not run");
      },
    ),
    startJob(
      heapCheckMs,
      async () => {
        if (!sharesProcess) heapGrowth.check();
      },
      (error) => {
        logger.error({ error }, "the growth of the heap could not be set");
      },
    ),
    startJob(
      restMs / 2,
      () => release.check(),
      (error) => {
        logger.error({ error }, "memory could not be released");
      },
    ),
  ];
  const forgetGone = cluster.onGone(
    () => void directory.adoptOrphans({ isExtra: true }).catch(onAdoptFailure),
  );
  const firstRelease = setTimeout(() => {
    release.checkAfterStart().catch((error: unknown) => {
      logger.error({ error: String(error) }, "memory could not be released");
    });
  }, startRestMs).unref();
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
}: Pick<MaintenanceDeps, "directory" | "lastActivityMs" | "releaseMemory">): {
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

function startJob(
  everyMs: number,
  work: () => Promise<void>,
  onError: (error: string) => void,
): NodeJS.Timeout {
  const timer = setInterval(() => {
    work().catch((error: unknown) => onError(String(error)));
  }, everyMs);
  timer.unref();
  return timer;
}

/** An idle conversation is unloaded late by at most half its idle time, and by at most half a minute. */
function sweepEveryMs(idleMs: number): number {
  return Math.min(30_000, Math.max(100, idleMs / 2));
}
