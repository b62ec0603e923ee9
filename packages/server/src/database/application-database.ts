import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { type Compilable, Kysely, sql, type Transaction } from "kysely";
import { Migrator } from "kysely/migration";
import { inFile } from "../lib/storage-fault.ts";
import { allMigrations } from "./migrations/all-migrations.ts";
import { LogSync } from "./log-sync.ts";
import { createSqliteDialect } from "./sqlite-dialect.ts";
import { openSqliteFile, openSqliteReader } from "./sqlite-file.ts";
import type { Tables } from "./tables.ts";

/** The application's tables: everything that is stored besides conversations. Several processes may share them. */
export class ApplicationDatabase implements AsyncDisposable {
  readonly tables: Kysely<Tables>;
  readonly #reader: DatabaseSync;
  readonly #mark: StatementSync;

  readonly #path: string;
  readonly #log: LogSync;

  constructor(tables: Kysely<Tables>, reader: DatabaseSync, path: string) {
    this.tables = tables;
    this.#path = path;
    this.#reader = reader;
    this.#log = new LogSync(`${path}-wal`);
    this.#mark = reader.prepare("PRAGMA data_version");
  }

  /** A number that differs whenever something was written since the last call, by whichever process; takes microseconds. */
  changeMark(): number {
    try {
      return Number(this.#mark.get()?.["data_version"]);
    } catch (error) {
      throw inFile(error, this.#path);
    }
  }

  /** What a query finds, without waiting; for small tables that are asked about on every request. */
  readNow<Row>(query: Compilable<Row>): Row[] {
    const { sql, parameters } = query.compile();
    try {
      return this.#reader.prepare(sql).all(...(parameters as readonly SQLInputValue[])) as Row[];
    } catch (error) {
      throw inFile(error, this.#path);
    }
  }

  /**
   * For writes that come with every turn: a transaction that is seen by all when it resolves, and survives a power cut from
   * the end of {@link untilDurable} on. The wait for the disk is another thread's; a commit elsewhere holds up everybody.
   */
  async commitSoon(work: (tables: Transaction<Tables>) => Promise<void>): Promise<void> {
    await this.tables.connection().execute(async (connection) => {
      await sql`PRAGMA synchronous = NORMAL`.execute(connection);
      try {
        await connection.transaction().execute(work);
      } finally {
        await sql`PRAGMA synchronous = FULL`.execute(connection);
      }
    });
  }

  /** Resolves when everything is on the disk that was committed before the call. */
  async untilDurable(): Promise<void> {
    await this.#log.sync();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#reader.isOpen) this.#reader.close();
    await this.tables.destroy();
  }
}

/** Opens `<dataDir>/application.sqlite`, readable by its owner only, and brings its tables up to date. */
export async function openApplicationDatabase(dataDir: string): Promise<ApplicationDatabase> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, "application.sqlite");
  const tables = new Kysely<Tables>({ dialect: createSqliteDialect(openSqliteFile(path)) });
  try {
    await migrate(tables);
    return new ApplicationDatabase(tables, openSqliteReader(path), path);
  } catch (error) {
    await tables.destroy();
    throw error;
  }
}

async function migrate(tables: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({
    db: tables,
    provider: { getMigrations: async () => ({ ...allMigrations }) },
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined)
    throw new Error("The application's tables cannot be brought up to date", { cause: error });
}
