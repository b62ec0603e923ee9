/** Resolves once `isTrue` returns true; rejects after a minute. For changes that can only be polled. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + 60_000;
  while (!(await isTrue())) {
    if (performance.now() > deadlineMs)
      throw new Error(`It did not happen within a minute: ${isTrue.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
