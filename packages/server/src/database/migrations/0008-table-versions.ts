import { sql, type Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { isPostgres } from "../is-postgres.ts";

/** How often each of the tables changed that every process keeps in memory; SQLite tells it by itself. */
export const tableVersions: Migration = {
  async up(database: Kysely<unknown>) {
    if (!isPostgres(database)) return;
    await database.schema
      .createTable("table_versions")
      .addColumn("name", "text", (column) => column.primaryKey())
      .addColumn("version", "bigint", (column) => column.notNull())
      .execute();
    await sql`CREATE FUNCTION convoke.count_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO convoke.table_versions (name, version) VALUES (TG_TABLE_NAME, 1)
          ON CONFLICT (name) DO UPDATE SET version = convoke.table_versions.version + 1;
        RETURN NULL;
      END $$`.execute(database);
    for (const table of ["keys", "browser_logins", "user_budgets"])
      await sql`CREATE TRIGGER count_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON convoke.${sql.ref(table)}
        FOR EACH STATEMENT EXECUTE FUNCTION convoke.count_change()`.execute(database);
  },
};
