/** The task's outcome, or the reason of an abort that comes first; the task itself continues. */
export async function orAborted<Result>(task: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason as Error);
  // The loser of the race is no longer awaited.
  task.catch(() => {});
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([task, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
