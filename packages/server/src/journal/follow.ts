import type { Journal, StoredEvent } from "./journal.ts";
import { LogReader, type LogReaderOptions } from "./log-reader.ts";

export type FollowOptions = LogReaderOptions & {
  /** Ends the iteration. */
  readonly signal: AbortSignal;
};

/** What a {@link LogReader} reads, for as long as somebody iterates. */
export async function* follow(
  journal: Pick<Journal, "read" | "onAppend">,
  conversationId: string,
  { signal, ...options }: FollowOptions,
): AsyncIterable<readonly StoredEvent[]> {
  if (signal.aborted) return;
  using reader = new LogReader(journal, conversationId, options);
  const stop = (): void => reader[Symbol.dispose]();
  signal.addEventListener("abort", stop);
  try {
    for (let events = await reader.next(); events !== null; events = await reader.next()) yield events;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
