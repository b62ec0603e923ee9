import { sql, type Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { isPostgres } from "../is-postgres.ts";

/** Roles of users, and the limits of keys: their role, scope and end. Keys that were there before have no limit. */
export const keyLimits: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema
      .alterTable("users")
      .addColumn("role", "text", (column) => column.notNull().defaultTo("member"))
      .execute();
    for (const [name, type] of [
      ["role", "text"],
      ["scope", "text"],
      ["expires_at", "integer"],
    ] as const)
      await database.schema.alterTable("keys").addColumn(name, type).execute();
    if (!isPostgres(database)) return;
    await sql`CREATE TRIGGER count_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON convoke.users
      FOR EACH STATEMENT EXECUTE FUNCTION convoke.count_change()`.execute(database);
  },
};
