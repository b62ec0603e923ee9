import { inject, vi } from "vitest";
import type { ApplicationDatabase } from "../database/application-database.ts";
import { openPostgresApplicationDatabase } from "../database/postgres/postgres-application-database.ts";
import { openApplicationDatabase } from "../database/sqlite-application-database.ts";
import { silentLogger } from "../lib/logger.ts";
import { startPostgres } from "./start-postgres.ts";

/** The store that this run of the tests is about: `sqlite` or `postgres`. */
export const testedStore = process.env["CONVOKE_TEST_STORE"] === "postgres" ? "postgres" : "sqlite";

const urls = new Map<string, Promise<string>>();

/** The application's tables on the store that this run is about. Whoever opens them for the same folder shares them. */
export async function openTestDatabase(folder: string): Promise<ApplicationDatabase> {
  if (testedStore === "sqlite") return await openApplicationDatabase(folder);
  const making = urls.get(folder) ?? createTestDatabase();
  urls.set(folder, making);
  return await openPostgresApplicationDatabase(await making, silentLogger);
}

/** Checks what another process has written: at once where the store tells it at once, else within what it promises. */
export async function whenSeen(check: () => void): Promise<void> {
  if (testedStore === "sqlite") check();
  else await vi.waitFor(check, 60_000);
}

/** On the server of this run, with which it goes. */
export async function createTestDatabase(): Promise<string> {
  return await (await startPostgres(undefined, inject("postgresUrl"))).createDatabase();
}
