import { sql, type Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { isPostgres } from "../is-postgres.ts";

/** The rules of users about calls of tools. */
export const userRules: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema
      .createTable("user_rules")
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("version", "integer", (column) => column.notNull())
      .addColumn("document", "text", (column) => column.notNull())
      .addColumn("updated_at", "integer", (column) => column.notNull())
      .addPrimaryKeyConstraint("user_rules_key", ["user_id"])
      .execute();
    if (!isPostgres(database)) return;
    await sql`CREATE TRIGGER count_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON convoke.user_rules
      FOR EACH STATEMENT EXECUTE FUNCTION convoke.count_change()`.execute(database);
  },
};
