export type BackOffMs = { readonly first: number; readonly most: number };

const usual: BackOffMs = { first: 100, most: 10_000 };

/** Waits longer after each failure in a row, with jitter; ends at once when the signal aborts. */
export async function backOff(failures: number, signal: AbortSignal, { first, most } = usual): Promise<void> {
  if (signal.aborted) return;
  const ms = Math.min(most, first * 2 ** failures) * (0.5 + Math.random() / 2);
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
