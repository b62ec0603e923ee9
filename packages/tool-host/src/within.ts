/** Resolves with the promise's value, or with undefined after `limitMs`; the timer never outlives the call. */
export async function withinMs<Value>(promise: Promise<Value>, limitMs: number): Promise<Value | undefined> {
  const { promise: limit, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), limitMs);
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
