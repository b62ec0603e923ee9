const tickMs = 10;
/** Maximum that one tick counts: a process that was held up for longer was not running. */
const maxMs = 50;

/**
 * Measures the running time of this process, for promises such as "within two seconds": while a busy machine holds the process up,
 * the watch stands still.
 */
export function startStopwatch(): { readonly elapsedMs: () => number } & Disposable {
  let elapsedMs = 0;
  let lastMs = performance.now();
  const tick = (): void => {
    const nowMs = performance.now();
    elapsedMs += Math.min(nowMs - lastMs, maxMs);
    lastMs = nowMs;
  };
  const timer = setInterval(tick, tickMs);
  return {
    elapsedMs: () => {
      tick();
      return elapsedMs;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
