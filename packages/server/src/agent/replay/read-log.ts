import type { Journal } from "../../journal/journal.ts";
import { parseStored } from "../../events/parse-stored.ts";
import type { ViewEvent } from "../history-view.ts";
import { replayKinds } from "./replay-log.ts";

/** Everything of a log that model requests depend on, up to `toSeq`. Needs no lease; rejects for a damaged event. */
export async function readReplayLog(
  journal: Pick<Journal, "readKinds" | "lastSeq">,
  conversationId: string,
  toSeq?: number,
): Promise<ViewEvent[]> {
  const end = toSeq ?? (await journal.lastSeq(conversationId));
  const stored = await journal.readKinds(conversationId, replayKinds, 1, end);
  const log = stored.map((item) => parseStored(conversationId, item));
  return log.filter(
    ({ event, meta }) => event.kind !== "ConversationStateUpdateEvent" || meta.navigation !== undefined,
  );
}
