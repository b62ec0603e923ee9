import { inject, vi } from "vitest";
import type { ApplicationDatabase } from "../database/application-database.ts";
import { openPostgresApplicationDatabase } from "../database/postgres/postgres-application-database.ts";
import { openApplicationDatabase } from "../database/sqlite-application-database.ts";
import type { Journal } from "../journal/journal.ts";
import { openJournal } from "../journal/open-journal.ts";
import { openPostgresJournal } from "../journal/postgres/postgres-journal.ts";
import { silentLogger } from "../lib/logger.ts";
import { takeWriterThread } from "./pooled-writers.ts";
import { ReusedDatabases } from "./reused-databases.ts";
import { startPostgres } from "./start-postgres.ts";

/** The store of this test run: `sqlite` or `postgres`. */
export const testedStore = process.env["CONVOKE_TEST_STORE"] === "postgres" ? "postgres" : "sqlite";

const urls = new Map<string, Promise<string>>();

/** The application's tables on the store of this test run. Callers with the same folder share them. */
export async function openTestDatabase(folder: string): Promise<ApplicationDatabase> {
  if (testedStore === "sqlite") return await openApplicationDatabase(folder);
  const making = urls.get(folder) ?? testDatabases.take();
  urls.set(folder, making);
  return await openPostgresApplicationDatabase(await making, silentLogger);
}

/** A journal on the store that this run is about; on SQLite in the folder. */
export async function openTestJournal(folder: string): Promise<Journal> {
  if (testedStore === "sqlite") return await openJournal({ dataDir: folder, thread: takeWriterThread() });
  const onFailure = (error: unknown): void => console.error(error);
  return await openPostgresJournal({ url: await testDatabases.take(), onFailure });
}

/** Checks what another process has written: at once if the store notifies at once, else within its promised time. */
export async function whenSeen(check: () => void): Promise<void> {
  if (testedStore === "sqlite") check();
  else await vi.waitFor(check, 60_000);
}

/** A new, empty database on the server of this test run, removed with it. */
export async function createTestDatabase(): Promise<string> {
  return await (await startPostgres(undefined, inject("postgresUrl"))).createDatabase();
}

/** The databases of this worker that tests use one after the other. */
export const testDatabases = new ReusedDatabases(createTestDatabase);
