import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Journal } from "../../journal/journal.ts";
import { parseStored } from "../../events/parse-stored.ts";
import type { ViewEvent } from "../history-view.ts";
import { replayKinds } from "./replay-log.ts";

/** Yields to the event loop after this many positions. */
const slice = 1_024;

/** Everything of a log that model requests depend on. Needs no lease; rejects for a damaged event. */
export async function readReplayLog(
  journal: Pick<Journal, "readKinds" | "lastSeq">,
  conversationId: string,
  signal?: AbortSignal,
): Promise<ViewEvent[]> {
  const end = await journal.lastSeq(conversationId);
  const log: ViewEvent[] = [];
  for (let from = 1; from <= end; from += slice) {
    signal?.throwIfAborted();
    const to = Math.min(end, from + slice - 1);
    for (const stored of await journal.readKinds(conversationId, replayKinds, from, to)) {
      const item = parseStored(conversationId, stored);
      const isState = item.event.kind === "ConversationStateUpdateEvent";
      if (!isState || item.meta.navigation !== undefined) log.push(item);
    }
    await yieldToEventLoop();
  }
  return log;
}
