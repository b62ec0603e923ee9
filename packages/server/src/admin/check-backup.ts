import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ConfigError } from "../boot/config.ts";
import { allMigrations, isUnreleased } from "../database/migrations/all-migrations.ts";
import { checkFolderStore } from "../database/data-folder-store.ts";
import { unfinishedBackup } from "../journal/open-journal.ts";
import { isOfLaterFormat } from "../journal/sqlite/schema.ts";
import { isFolder } from "../lib/is-folder.ts";
import { version } from "../lib/version.ts";
import { waysBack } from "../lib/ways-back.ts";

/**
 * Rejects with {@link ConfigError} for a folder that is no backup, that was cut off, or that this version cannot start from. A
 * backup of an older release is fine: a server brings it up to date.
 */
export async function checkBackup(backup: string): Promise<void> {
  if (!(await isFolder(backup)))
    throw new ConfigError(`There is no folder ${backup}. Name a backup with --from.`);
  if (existsSync(join(backup, unfinishedBackup)))
    throw new ConfigError(`The backup ${backup} was cut off before it was whole. Use another one.`);
  await checkFolderStore(backup, null);
  const [journal, application] = [join(backup, "journal.db"), join(backup, "application.sqlite")];
  if (!existsSync(journal) && !existsSync(application))
    throw new ConfigError(
      `${backup} is no backup of a data folder: it has no journal.db and no application.sqlite. Name another with --from.`,
    );
  if (isTrueOf(journal, isOfLaterJournal)) throw ofNewerVersion(journal);
  if (isTrueOf(application, isOfLaterTables)) throw ofNewerVersion(application);
}

function ofNewerVersion(file: string): ConfigError {
  return new ConfigError(`${file} was used by a newer version than ${version}: ${waysBack}.`);
}

/** The answer of `ask`; false where there is no file, and for one that is no database, which the check of its content names. */
function isTrueOf(file: string, ask: (database: DatabaseSync) => boolean): boolean {
  if (!existsSync(file)) return false;
  using database = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
  try {
    return ask(database);
  } catch (error) {
    if (error instanceof ConfigError || !(error instanceof Error && "errcode" in error)) throw error;
    return false;
  }
}

function isOfLaterJournal(database: DatabaseSync): boolean {
  return isOfLaterFormat(Number(database.prepare("PRAGMA user_version").get()?.["user_version"]));
}

function isOfLaterTables(database: DatabaseSync): boolean {
  const done = database.prepare("SELECT name FROM kysely_migration").all();
  const names = done.map(({ name }) => String(name));
  if (isUnreleased(names))
    throw new ConfigError(
      "The backup is of a development version from before the first release: use the version that made it.",
    );
  return names.some((name) => !Object.hasOwn(allMigrations, name));
}
