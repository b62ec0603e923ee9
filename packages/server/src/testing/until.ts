/** Resolves once `isTrue` returns true; rejects after a minute. For changes that can only be polled. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const startMs = performance.now();
  while (!(await isTrue())) {
    if (performance.now() - startMs > 60_000)
      throw new Error(`It did not happen within a minute: ${isTrue.toString()}`);
    await pause(startMs);
  }
}

/**
 * Between two polls of something that has been awaited since `startMs`: a tenth of the time so far, from 5 to 100 milliseconds. A long
 * wait is not made of thousands of requests, and is at most a tenth longer than necessary.
 */
export async function pause(startMs: number): Promise<void> {
  const waitMs = Math.min(100, Math.max(5, (performance.now() - startMs) / 10));
  await new Promise((resolve) => setTimeout(resolve, waitMs));
}
