const firstMs = 100;
const mostMs = 10_000;

/** Waits longer after each failure in a row, with jitter; ends at once when the signal aborts. */
export async function backOff(failures: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const ms = Math.min(mostMs, firstMs * 2 ** failures) * (0.5 + Math.random() / 2);
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
}
