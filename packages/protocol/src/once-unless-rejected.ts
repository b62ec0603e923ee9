/**
 * Runs `work` once for all who ask, at the same time and later. After a rejection, which those who asked meanwhile get, whoever asks next
 * runs it anew: what failed for a moment must not stay failed for as long as the process lives.
 */
export function onceUnlessRejected<Value>(work: () => Promise<Value>): () => Promise<Value> {
  let shared: Promise<Value> | null = null;
  return () => {
    if (shared !== null) return shared;
    const running = work();
    shared = running;
    // Whoever asked is told; here it is only forgotten.
    running.catch(() => {
      if (shared === running) shared = null;
    });
    return running;
  };
}
