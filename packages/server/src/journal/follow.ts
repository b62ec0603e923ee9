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
): AsyncIterable<readonly StoredEvent[]> {
  const { signal, batchSize = 100 } = options;
  let cursor = options.afterSeq;
  let hasRung = false;
  /** The highest `seq` that a ring told of; what comes behind it rings again. 0 before the first ring. */
  let rungSeq = 0;
  let wake: (() => void) | undefined;
  const onWake = (): void => {
    hasRung = true;
    wake?.();
  };
  const stopListening = journal.onAppend(conversationId, (lastSeq) => {
    rungSeq = Math.max(rungSeq, lastSeq);
    if (lastSeq > cursor) onWake();
  });
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
      }
      const isAtEnd = last === undefined ? !hasRung : rungSeq > 0 && cursor >= rungSeq;
      if (isAtEnd && !signal.aborted) {
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
