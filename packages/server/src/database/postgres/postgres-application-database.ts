import { DatabaseError, type Pool } from "pg";
import { Kysely, sql, type Compilable, type Transaction } from "kysely";
import { DEFAULT_MIGRATION_TABLE, Migrator, type Migration } from "kysely/migration";
import type { Logger } from "../../lib/logger.ts";
import type { ApplicationDatabase, LiveRows, LiveTable } from "../application-database.ts";
import { allMigrations, isOfNewerRelease, type Migrations } from "../migrations/all-migrations.ts";
import type { Tables } from "../tables.ts";
import { LiveTables } from "./live-tables.ts";
import { createPostgresDialect } from "./postgres-dialect.ts";
import { openPool } from "./postgres-pool.ts";
import type { Timeline } from "./timeline.ts";

/** The schema that everything of ours is in. */
const schemaName = "convoke";

/** The application's tables in a PostgreSQL that several processes share. */
class PostgresApplicationDatabase implements ApplicationDatabase {
  readonly tables: Kysely<Tables>;
  readonly #live: LiveTables;

  constructor(tables: Kysely<Tables>, live: LiveTables) {
    this.tables = tables;
    this.#live = live;
  }

  async read<Row>(query: Compilable<Row>): Promise<readonly Row[]> {
    return (await this.tables.executeQuery(query.compile())).rows;
  }

  async transaction<Result>(work: (tables: Transaction<Tables>) => Promise<Result>): Promise<Result> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.tables.transaction().setIsolationLevel("serializable").execute(work);
      } catch (error) {
        if (tries === maxTries || !isRace(error)) throw error;
        // Those that got into each other's way come again one after another.
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 5 * tries));
      }
    }
  }

  async live<Row>(table: LiveTable, query: Compilable<Row>): Promise<LiveRows<Row>> {
    return await this.#live.open(table, query);
  }

  async commitSoon(work: (tables: Transaction<Tables>) => Promise<void>): Promise<void> {
    await this.tables.transaction().execute(work);
  }

  /** Each commit waits for the disk. */
  async untilDurable(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#live[Symbol.asyncDispose]();
    await this.tables.destroy();
  }
}

const maxTries = 30;

/** What another transaction did at the same time; nothing of this one is left. */
function isRace(error: unknown): boolean {
  return error instanceof DatabaseError && raceCodes.has(error.code ?? "");
}

/** serialization_failure, deadlock_detected. */
const raceCodes: ReadonlySet<string> = new Set(["40001", "40P01"]);

/** Brings the tables up to date; of several processes that begin together one does it. */
export async function openPostgresApplicationDatabase(
  url: string,
  logger: Logger,
  timeline?: Timeline,
  migrations: Migrations = allMigrations,
): Promise<ApplicationDatabase> {
  const onFailure = (error: Error): void =>
    logger.warn({ error: error.message }, "a connection to the database broke off");
  const pool: Pool = openPool({ url, name: "convoke", size: 8, timeline }, onFailure);
  const plain = new Kysely<Tables>({ dialect: createPostgresDialect(pool) });
  try {
    const tables = plain.withSchema(schemaName);
    await migrate(plain, migrations);
    const live = new LiveTables({ tables, logger, pollMs: 1000 });
    timeline?.onTurn(() => live.forget());
    return new PostgresApplicationDatabase(tables, live);
  } catch (error) {
    await plain.destroy();
    throw error;
  }
}

/** Nearly every start finds the tables as it wants them, and takes no lock. */
async function migrate(plain: Kysely<Tables>, migrations: Migrations): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      if (!(await isUpToDate(plain, migrations)))
        await plain.transaction().execute((transaction) => migrateAlone(transaction, migrations));
      return;
    } catch (error) {
      // Two that make the schema at the same moment, or a newer one meanwhile: the second finds it the next time.
      if (!(isDuplicate(error) || isRace(error) || isOfNewerRelease(error)) || tries === maxTries)
        throw new Error("The application's tables cannot be brought up to date", { cause: error });
    }
  }
}

/** All of it or nothing. The lock ends with the transaction, so that it works through poolers too. */
async function migrateAlone(transaction: Transaction<Tables>, migrations: Migrations): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended('convoke application tables', 0))`.execute(
    transaction,
  );
  const tables = transaction.withSchema(schemaName);
  const migrator = new Migrator({
    db: tables,
    provider: {
      getMigrations: async () => ({ ...(await newerMigrations(tables, migrations)), ...migrations }),
    },
    migrationTableSchema: schemaName,
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

async function isUpToDate(plain: Kysely<Tables>, migrations: Migrations): Promise<boolean> {
  const done = await doneMigrations(plain);
  return Object.keys(migrations).every((name) => done.has(name));
}

/** Empty where there is no table of them yet. */
async function doneMigrations(tables: Kysely<Tables>): Promise<ReadonlySet<string>> {
  const table = `${schemaName}.${DEFAULT_MIGRATION_TABLE}`;
  const { rows: found } = await sql<{ id: string | null }>`SELECT to_regclass(${table}) AS id`.execute(
    tables,
  );
  if (found[0]?.id == null) return new Set();
  const { rows } = await sql<{ name: string }>`SELECT name FROM ${sql.table(table)}`.execute(tables);
  return new Set(rows.map(({ name }) => name));
}

/** What releases behind this one have done, which only added to the tables: their servers may work on them beside this one. */
async function newerMigrations(
  tables: Kysely<Tables>,
  migrations: Migrations,
): Promise<Record<string, Migration>> {
  const newer = [...(await doneMigrations(tables))].filter((name) => migrations[name] === undefined);
  return Object.fromEntries(newer.map((name) => [name, { up: async () => {} }]));
}

function isDuplicate(error: unknown): boolean {
  return error instanceof DatabaseError && ["23505", "42P06", "42P07"].includes(error.code ?? "");
}
