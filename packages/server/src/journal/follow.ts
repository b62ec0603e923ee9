import type { Journal, StoredEvent } from "./journal.ts";

export type FollowOptions = {
  /** The last event the reader has; 0 starts at the beginning. */
  readonly afterSeq: number;
  /** Ends the iteration. */
  readonly signal: AbortSignal;
  /** Events a read brings at most; 100 when not given. */
  readonly batchSize?: number;
};

/**
 * The events of a conversation after a cursor, for ever, in log order, each once. History and news come the same way: read
 * after the cursor, and when nothing is there wait for the doorbell. A slow reader is a cursor that lags; nothing is buffered.
 */
export async function* follow(
  journal: Pick<Journal, "read" | "onAppend">,
  conversationId: string,
  options: FollowOptions,
): AsyncIterable<StoredEvent[]> {
  const { signal, batchSize = 100 } = options;
  let cursor = options.afterSeq;
  let hasRung = false;
  let wake: (() => void) | undefined;
  const onWake = (): void => {
    hasRung = true;
    wake?.();
  };
  const stopListening = journal.onAppend(conversationId, onWake);
  signal.addEventListener("abort", onWake);
  try {
    while (!signal.aborted) {
      // Cleared before the read: a ring during the read means that the read may have missed something.
      hasRung = false;
      const events = await journal.read(conversationId, cursor, batchSize);
      const last = events.at(-1);
      if (last !== undefined) {
        if (signal.aborted) return;
        cursor = last.seq;
        yield events;
      } else if (!hasRung) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        wake = undefined;
      }
    }
  } finally {
    stopListening();
    signal.removeEventListener("abort", onWake);
  }
}
