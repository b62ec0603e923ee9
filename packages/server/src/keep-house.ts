import type { Directory } from "./conversation/directory.ts";
import type { Logger } from "./lib/logger.ts";

export type HousekeepingDeps = {
  readonly directory: Pick<Directory, "takeUp" | "evictIdle">;
  /** Conversations that nobody used for so long leave memory. */
  readonly conversationIdleSeconds: number;
  readonly logger: Logger;
};

/** How often a server looks for runs of others on the same data folder that have ended. */
const takeUpEveryMs = 1000;

/** Does now and then what nobody asks for, until it is disposed. Does not keep the process alive. */
export function keepHouse({ directory, conversationIdleSeconds, logger }: HousekeepingDeps): Disposable {
  const idleMs = conversationIdleSeconds * 1000;
  const chores = [
    chore(
      takeUpEveryMs,
      () => directory.takeUp(),
      (error) => {
        logger.error({ error }, "runs of other servers could not be looked at");
      },
    ),
    chore(
      sweepEveryMs(idleMs),
      () => directory.evictIdle(idleMs),
      (error) => {
        logger.error({ error }, "idle conversations could not be put away");
      },
    ),
  ];
  return {
    [Symbol.dispose]: () => {
      for (const timer of chores) clearInterval(timer);
    },
  };
}

function chore(everyMs: number, work: () => Promise<void>, onError: (error: string) => void): NodeJS.Timeout {
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
