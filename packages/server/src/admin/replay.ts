import { access } from "node:fs/promises";
import { readReplayLog } from "../agent/replay/read-log.ts";
import { replayLog, type ReplayReport } from "../agent/replay/replay-log.ts";
import { ConfigError } from "../boot/config.ts";
import { checkFolderStore } from "../database/data-folder-store.ts";
import type { DatabasePlace } from "../database/open-application-database.ts";
import type { PostgresPlace } from "../database/postgres-place.ts";
import type { Journal } from "../journal/journal.ts";
import { openJournal } from "../journal/open-journal.ts";
import { silentLogger } from "../lib/logger.ts";
import { normalizeUuid } from "../lib/uuid7.ts";

export { ConfigError, readConfig } from "../boot/config.ts";
export type { ReplayDifference, ReplayReport } from "../agent/replay/replay-log.ts";

/** Rebuilds every model request of a stored conversation without a network; null when there is no such conversation. */
export async function replayConversation(
  dataDir: string,
  conversationId: string,
  database: PostgresPlace | null = null,
): Promise<ReplayReport | null> {
  const id = normalizeUuid(conversationId);
  if (id === null) return null;
  await using journal = await openJournalAt({ dataDir, database });
  if ((await journal.getConversation(id)) === null) return null;
  return replayLog(await readReplayLog(journal, id));
}

async function openJournalAt({ dataDir, database }: DatabasePlace): Promise<Journal> {
  if (database !== null) {
    const [{ checkPostgres }, { openPostgresJournal }] = await Promise.all([
      import("../database/postgres/check-postgres.ts"),
      import("../journal/postgres/postgres-journal.ts"),
    ]);
    await checkPostgres(database, silentLogger);
    return await openPostgresJournal({ url: database.url, listenUrl: null, onFailure: () => {} });
  }
  try {
    await access(dataDir);
  } catch (error) {
    throw new ConfigError(`There is no data folder ${dataDir}.`, { cause: error });
  }
  await checkFolderStore(dataDir, null);
  return await openJournal({ dataDir });
}
