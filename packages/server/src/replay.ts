import { access } from "node:fs/promises";
import { readReplayLog } from "./agent/replay/read-log.ts";
import { replayLog, type ReplayReport } from "./agent/replay/replay-log.ts";
import { ConfigError } from "./config.ts";
import { openJournal } from "./journal/open-journal.ts";
import { normalizeUuid } from "./lib/uuid7.ts";

export { ConfigError, readConfig } from "./config.ts";
export type { ReplayDifference, ReplayReport } from "./agent/replay/replay-log.ts";

/** Rebuilds every model request of a stored conversation without a network; null when there is no such conversation. */
export async function replayConversation(
  dataDir: string,
  conversationId: string,
): Promise<ReplayReport | null> {
  const id = normalizeUuid(conversationId);
  if (id === null) return null;
  try {
    await access(dataDir);
  } catch (error) {
    throw new ConfigError(`There is no data folder ${dataDir}.`, { cause: error });
  }
  await using journal = await openJournal({ dataDir });
  if ((await journal.getConversation(id)) === null) return null;
  return replayLog(await readReplayLog(journal, id));
}
