import { wait } from "../lib/wait.ts";

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
  sleep,
  random: () => Math.random(),
};

/** A clock that runs `speed` times faster than real time, so that tests can wait for minutes in milliseconds. */
export function createFastModelClock(speed: number): ModelClock {
  const startMs = Date.now();
  const startTick = performance.now();
  return {
    nowMs: () => startMs + (performance.now() - startTick) * speed,
    sleep: (ms, signal) => sleep(ms / speed, signal),
    random: () => 0,
  };
}

/** That of `node:timers/promises` makes an error with a stack for each sleep that is broken off, and nearly every one is. */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, signal);
  signal.throwIfAborted();
}
