export type BackOffMs = { readonly first: number; readonly max: number };

const usual: BackOffMs = { first: 100, max: 10_000 };

/** Milliseconds to wait before the next try. Doubles with each consecutive failure, with jitter. */
export function backOffMs(failures: number, { first, max } = usual): number {
  return Math.min(max, first * 2 ** failures) * (0.5 + Math.random() / 2);
}

/** Resolves after `ms`, or immediately when one of the signals aborts. */
export async function pause(ms: number, ...signals: readonly AbortSignal[]): Promise<void> {
  if (signals.some((signal) => signal.aborted)) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener("abort", done);
      resolve();
    }
    for (const signal of signals) signal.addEventListener("abort", done);
  });
}
