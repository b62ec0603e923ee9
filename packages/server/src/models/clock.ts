import { setTimeout as delay } from "node:timers/promises";

/** Time and chance as the models use them; tests pass their own. */
export type ModelClock = {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Resolves after `ms`, or rejects as soon as the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** From 0 inclusive to 1 exclusive. */
  random(): number;
};

export const systemModelClock: ModelClock = {
  nowMs: () => Date.now(),
  sleep: async (ms, signal) => {
    await delay(ms, undefined, { signal });
  },
  random: () => Math.random(),
};

/** A clock that runs `speed` times faster than real time, so that tests can wait for minutes in milliseconds. */
export function createFastModelClock(speed: number): ModelClock {
  const startMs = Date.now();
  const startTick = performance.now();
  return {
    nowMs: () => startMs + (performance.now() - startTick) * speed,
    sleep: async (ms, signal) => {
      await delay(ms / speed, undefined, { signal });
    },
    random: () => 0,
  };
}
