/**
 * Runs `work` once and shares its result with all callers, concurrent and later. A rejection goes to the callers that waited for it;
 * the next caller runs `work` again, so that a temporary failure does not last as long as the process.
 */
export function onceUnlessRejected<Value>(work: () => Promise<Value>): () => Promise<Value> {
  let shared: Promise<Value> | null = null;
  return () => {
    if (shared !== null) return shared;
    const running = work();
    shared = running;
    // The callers get the rejection; here only the shared promise is dropped.
    running.catch(() => {
      if (shared === running) shared = null;
    });
    return running;
  };
}
