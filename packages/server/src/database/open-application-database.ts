import type { Logger } from "../lib/logger.ts";
import type { ApplicationDatabase } from "./application-database.ts";
import { checkFolderStore } from "./data-folder-store.ts";
import type { PostgresPlace } from "./postgres-place.ts";
import { openApplicationDatabase } from "./sqlite-application-database.ts";

/** Where the application's tables are. */
export type DatabasePlace = {
  /** Absolute. */
  readonly dataDir: string;
  /** Null: in the data folder. */
  readonly database: PostgresPlace | null;
};

/** The application's tables, whichever database they are in; servers may use them meanwhile. */
export async function openTables(
  { dataDir, database }: DatabasePlace,
  logger: Logger,
): Promise<ApplicationDatabase> {
  await checkFolderStore(dataDir, database);
  if (database === null) return await openApplicationDatabase(dataDir);
  const [{ checkPostgres }, { openPostgresApplicationDatabase }] = await Promise.all([
    import("./postgres/check-postgres.ts"),
    import("./postgres/postgres-application-database.ts"),
  ]);
  await checkPostgres(database, logger);
  return await openPostgresApplicationDatabase(database.url, logger);
}
