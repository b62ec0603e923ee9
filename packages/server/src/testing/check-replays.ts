import { readReplayLog } from "../agent/replay/read-log.ts";
import { replayLog } from "../agent/replay/replay-log.ts";
import { DamagedEventError, type Journal } from "../journal/journal.ts";
import { isDamage } from "../lib/storage-fault.ts";

/** Throws unless every model request in the store can be rebuilt from its log, byte for byte. */
export async function checkReplays(journal: Journal): Promise<void> {
  for (const id of await conversationIds(journal)) {
    const { difference } = replayLog(await readUndamaged(journal, id));
    if (difference === null) continue;
    throw new Error(
      `Conversation ${id}: the ${difference.who}'s request before event ${difference.eventId} (seq ${difference.seq}) ` +
        `was ${difference.recorded}, and its log leads to ${difference.rebuilt}.`,
    );
  }
}

async function conversationIds(journal: Journal): Promise<string[]> {
  const ids: string[] = [];
  for (let pageId: string | null | undefined; pageId !== null;) {
    const page = await journal.searchConversations({
      sort: "CREATED_AT",
      limit: 100,
      ...(pageId === undefined ? {} : { pageId }),
    });
    ids.push(...page.items.map((row) => row.id));
    pageId = page.nextPageId;
  }
  return ids;
}

async function readUndamaged(journal: Journal, id: string) {
  try {
    return await readReplayLog(journal, id);
  } catch (error) {
    // Tests damage logs on purpose; such a log has no complete history to compare with.
    if (error instanceof DamagedEventError || isDamage(error)) return [];
    throw error;
  }
}
