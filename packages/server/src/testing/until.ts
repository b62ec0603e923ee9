/** Resolves once `isTrue` says so; rejects after fifteen seconds. For what announces itself in no other way. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + 15_000;
  while (!(await isTrue())) {
    if (performance.now() > deadlineMs)
      throw new Error(`It did not happen within fifteen seconds: ${isTrue.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
