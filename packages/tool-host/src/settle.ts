/** How a promise settled, or that it was still pending when the grace period after an abort was over. */
export type Ending<Value> =
  | { readonly type: "resolved"; readonly value: Value }
  | { readonly type: "rejected"; readonly error: unknown }
  | { readonly type: "overdue" };

/** Waits for a promise; after the signal aborts, for at most `graceMs` more. A later result is dropped. */
export async function settle<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
  graceMs: number,
): Promise<Ending<Value>> {
  const overdue = Promise.withResolvers<Ending<Value>>();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    timer = setTimeout(() => overdue.resolve({ type: "overdue" }), graceMs);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  const ending = promise.then(
    (value): Ending<Value> => ({ type: "resolved", value }),
    (error: unknown): Ending<Value> => ({ type: "rejected", error }),
  );
  try {
    return await Promise.race([ending, overdue.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
