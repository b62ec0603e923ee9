import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import { type Compilable, Kysely, sql, type Transaction } from "kysely";
import { ConfigError } from "../lib/config-error.ts";
import { inFile } from "../lib/storage-fault.ts";
import { version } from "../lib/version.ts";
import { waysBack } from "../lib/ways-back.ts";
import {
  allMigrations,
  isOfNewerRelease,
  isUnreleased,
  type Migrations,
} from "./migrations/all-migrations.ts";
import type { ApplicationDatabase, LiveRows, LiveTable } from "./application-database.ts";
import { CachedStatements } from "./cached-statements.ts";
import { LogCopier } from "./log-copier.ts";
import { LogSync } from "./log-sync.ts";
import { copyBeforeUpgrade } from "./copy-before-upgrade.ts";
import { createSqliteDialect } from "./sqlite-dialect.ts";
import { openSqliteFile, openSqliteReader } from "./sqlite-file.ts";
import type { Tables } from "./tables.ts";

/** The application's tables in one file, which several processes may have open. */
class SqliteApplicationDatabase implements ApplicationDatabase {
  readonly tables: Kysely<Tables>;
  readonly #reader: DatabaseSync;
  readonly #mark: StatementSync;
  readonly #path: string;
  readonly #log: LogSync;
  readonly #statements: CachedStatements;
  readonly #copier: LogCopier;
  /** How long the log was when it was last copied back; a reader can keep it from beginning again. */
  #copiedAtPage = 0;
  #copying: Promise<void> | null = null;
  #isClosed = false;

  constructor(tables: Kysely<Tables>, reader: DatabaseSync, path: string) {
    this.tables = tables;
    this.#path = path;
    this.#reader = reader;
    this.#statements = new CachedStatements(reader);
    this.#log = new LogSync(`${path}-wal`);
    this.#copier = new LogCopier(path);
    this.#mark = reader.prepare("PRAGMA data_version");
  }

  async read<Row>(query: Compilable<Row>): Promise<readonly Row[]> {
    return this.#readNow(query);
  }

  /** Takes the write lock as it begins, so nothing is ever done twice. */
  async transaction<Result>(work: (tables: Transaction<Tables>) => Promise<Result>): Promise<Result> {
    return await this.tables.transaction().execute(work);
  }

  async live<Row>(_table: LiveTable, query: Compilable<Row>): Promise<LiveRows<Row>> {
    let mark: number | null = null;
    let rows: readonly Row[] = [];
    const now = (): readonly Row[] => {
      const newest = this.#changeMark();
      if (newest !== mark) rows = this.#readNow(query);
      mark = newest;
      return rows;
    };
    return { now, refresh: async () => {} };
  }

  /** The wait for the disk is another thread's; a commit elsewhere holds up everybody. */
  async commitSoon(work: (tables: Transaction<Tables>) => Promise<void>): Promise<void> {
    await this.tables.connection().execute(async (connection) => {
      await sql`PRAGMA synchronous = NORMAL`.execute(connection);
      try {
        await connection.transaction().execute(work);
      } finally {
        await sql`PRAGMA synchronous = FULL`.execute(connection);
      }
      const { rows } = await sql<{ log: number }>`PRAGMA wal_checkpoint(NOOP)`.execute(connection);
      this.#copyLogBack(rows[0]?.log ?? 0);
    });
  }

  async untilDurable(): Promise<void> {
    await this.#log.sync();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#copier[Symbol.dispose]();
    await this.#copying;
    if (this.#reader.isOpen) this.#reader.close();
    await this.tables.destroy();
  }

  /** SQLite would do it in the commit that makes the log too long: the loop would wait for the disk, twice. */
  #copyLogBack(pages: number): void {
    if (pages < this.#copiedAtPage) this.#copiedAtPage = 0;
    if (this.#copying !== null || this.#isClosed || pages - this.#copiedAtPage < logPagesLimit) return;
    this.#copiedAtPage = pages;
    this.#copying = this.#copyBeside().finally(() => (this.#copying = null));
  }

  /** Most of it while others write. The rest while nobody does, so that it comes to the end and the log begins again. */
  async #copyBeside(): Promise<void> {
    await this.#copier.copy();
    if (this.#isClosed) return;
    await this.tables.connection().execute(async () => {
      if (!this.#isClosed) await this.#copier.copy();
    });
  }

  /** A number that differs whenever something was written since the last call, by whichever process; takes microseconds. */
  #changeMark(): number {
    try {
      return Number(this.#mark.get()?.["data_version"]);
    } catch (error) {
      throw inFile(error, this.#path);
    }
  }

  #readNow<Row>(query: Compilable<Row>): Row[] {
    const { sql: text, parameters } = query.compile();
    try {
      return this.#statements.get(text).all(...(parameters as readonly SQLInputValue[])) as Row[];
    } catch (error) {
      throw inFile(error, this.#path);
    }
  }
}

/** So long a log is copied back beside the work, 4 MB. */
const logPagesLimit = 1_000;

/** Beyond this size writers checkpoint themselves: only where the copier cannot keep up or cannot run. */
const longestLogPages = 4_000;

/** Opens `<dataDir>/application.sqlite`, readable by its owner only, and brings its tables up to date. */
export async function openApplicationDatabase(
  dataDir: string,
  migrations: Migrations = allMigrations,
): Promise<ApplicationDatabase> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, "application.sqlite");
  const file = openSqliteFile(path);
  file.exec(`PRAGMA wal_autocheckpoint = ${longestLogPages}`);
  const tables = new Kysely<Tables>({ dialect: createSqliteDialect(file) });
  try {
    const done = await doneMigrations(tables);
    if (isUnreleased(done))
      throw new ConfigError(
        `${path} is of a development version from before the first release: name another data folder, or use the version that made it.`,
      );
    if (!isDeepStrictEqual(done, Object.keys(migrations))) {
      if (isOlder(done, migrations)) copyBeforeUpgrade({ dataDir, version, done });
      await migrate(tables, path, migrations);
    }
    return new SqliteApplicationDatabase(tables, openSqliteReader(path), path);
  } catch (error) {
    await tables.destroy();
    throw error;
  }
}

/** Whether an earlier release made the tables: a new file has none, and those of a newer one are refused. */
function isOlder(done: readonly string[], migrations: Migrations): boolean {
  return done.length > 0 && done.every((name) => Object.hasOwn(migrations, name));
}

/**
 * Nearly every start finds the tables as it wants them: the library's way to migrate, which reads every table, is loaded for the others.
 * Empty where nothing can be read: the migration fails there too, and names the failure.
 */
async function doneMigrations(tables: Kysely<Tables>): Promise<string[]> {
  try {
    const { rows } = await sql<{ name: string }>`SELECT name FROM kysely_migration ORDER BY name`.execute(
      tables,
    );
    return rows.map(({ name }) => name);
  } catch {
    return [];
  }
}

async function migrate(tables: Kysely<Tables>, path: string, migrations: Migrations): Promise<void> {
  const { Migrator } = await import("kysely/migration");
  const migrator = new Migrator({
    db: tables,
    provider: { getMigrations: async () => ({ ...migrations }) },
  });
  const { error } = await migrator.migrateToLatest();
  if (isOfNewerRelease(error))
    throw new ConfigError(`${path} was used by a newer version than ${version}: ${waysBack}.`, {
      cause: error,
    });
  if (error !== undefined)
    throw new Error("The application's tables cannot be brought up to date", { cause: error });
}
