import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "../lib/config-error.ts";
import type { WatchdogShared } from "../lib/watchdog-memory.ts";
import type { Journal } from "./journal.ts";
import { openSqliteJournal } from "./sqlite/sqlite-journal.ts";
import type { WriterThread } from "./sqlite/writer-thread.ts";

/** A file of this name lies in a folder as long as a backup is being written to it. */
export const unfinishedBackup = "backup-unfinished";

/** Where the journal lives: a folder, or nowhere that outlives it (for tests). */
export type JournalLocation =
  | {
      readonly dataDir: string;
      /** See {@link SqliteJournalOptions}. */
      readonly watch?: WatchdogShared | null;
      readonly thread?: WriterThread | undefined;
    }
  | { readonly memory: true; readonly thread?: WriterThread | undefined };

/** Opens the journal of this process; several processes may share one folder. */
export async function openJournal(location: JournalLocation): Promise<Journal> {
  if ("dataDir" in location) {
    if (existsSync(join(location.dataDir, unfinishedBackup))) throw notWhole(location.dataDir);
    const { dataDir, watch = null, thread } = location;
    return await openSqliteJournal(dataDir, { watch, thread });
  }
  const dataDir = await mkdtemp(join(tmpdir(), "convoke-journal-"));
  const journal = await openSqliteJournal(dataDir, { indexAfterMs: null, thread: location.thread });
  const close = journal[Symbol.asyncDispose].bind(journal);
  journal[Symbol.asyncDispose] = async () => {
    await close();
    await rm(dataDir, { recursive: true, force: true });
  };
  return journal;
}

function notWhole(dataDir: string): ConfigError {
  return new ConfigError(
    `${dataDir} is an incomplete backup. Make another one with "convoke backup", or name another folder.`,
  );
}
