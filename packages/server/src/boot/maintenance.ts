import type { OpenAppConversations } from "../app-conversations/open-app-conversations.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Directory } from "../directory/directory.ts";
import { HeapGrowth } from "../lib/heap-growth.ts";
import type { Logger } from "../lib/logger.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";

export type MaintenanceDeps = {
  readonly directory: Pick<Directory, "takeUp" | "evictIdle" | "isAtRest">;
  readonly appConversations: Pick<OpenAppConversations, "takeUp">;
  readonly webhooks: Pick<Webhooks, "check">;
  readonly cluster: Pick<Cluster, "onGone">;
  /** When somebody asked for something. */
  readonly lastActivityMs: () => number;
  /** Gives back memory that is not needed at rest; takes long enough to wait for a pause. */
  readonly releaseMemory: () => void;
  /** Conversations that nobody used for so long leave memory. */
  readonly conversationIdleSeconds: number;
  readonly logger: Logger;
};

/** How often a server looks for what others on the same data folder have done, and for what they have left when they ended. */
const takeUpEveryMs = 1000;
const heapCheckMs = 1000;

/** Does now and then what nobody asks for, until it is disposed. Does not keep the process alive. */
export function startMaintenance(deps: MaintenanceDeps): Disposable {
  const { directory, appConversations, webhooks, cluster, conversationIdleSeconds, logger } = deps;
  const onTakeUpFailure = (error: unknown): void =>
    logger.error({ error: String(error) }, "runs of other servers could not be looked at");
  const idleMs = conversationIdleSeconds * 1000;
  const release = createRelease(deps);
  const heapGrowth = new HeapGrowth();
  const jobs = [
    startJob(
      takeUpEveryMs,
      () => {
        webhooks.check();
        return directory.takeUp();
      },
      onTakeUpFailure,
    ),
    startJob(
      takeUpEveryMs,
      () => appConversations.takeUp(),
      (error) => {
        logger.error({ error }, "starts of other servers could not be looked at");
      },
    ),
    startJob(
      sweepEveryMs(idleMs),
      async () => {
        if ((await directory.evictIdle(idleMs)) > 0) release.isDue = true;
      },
      (error) => {
        logger.error({ error }, "idle conversations could not be put away");
      },
    ),
    startJob(
      heapCheckMs,
      async () => heapGrowth.check(),
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
  const forgetGone = cluster.onGone(() => void directory.takeUp({ isBetween: true }).catch(onTakeUpFailure));
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

/** How long after its start a server that nobody has asked for anything gives back what starting took. */
const startRestMs = 1_000;

/** A pause in which nobody asks for anything and nothing is in progress. */
const restMs = 10_000;

/** Releases memory once in each pause, and again when more has become free since. */
export function createRelease({
  directory,
  lastActivityMs,
  releaseMemory,
}: Pick<MaintenanceDeps, "directory" | "lastActivityMs" | "releaseMemory">): {
  isDue: boolean;
  check: () => Promise<void>;
  /** Does not wait for a pause: unless somebody asked for something since, there has been one. */
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

/** An idle conversation leaves at most half its idle time late, and within half a minute. */
function sweepEveryMs(idleMs: number): number {
  return Math.min(30_000, Math.max(100, idleMs / 2));
}
