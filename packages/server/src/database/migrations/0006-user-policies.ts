import { sql, type Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { isPostgres } from "../is-postgres.ts";

/** What users may have at most, and the walls of users whose number is limited. */
export const userPolicies: Migration = {
  async up(database: Kysely<unknown>) {
    const { schema } = database;
    await schema
      .createTable("user_policies")
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("document", "text", (column) => column.notNull())
      .addColumn("updated_at", "integer", (column) => column.notNull())
      .addPrimaryKeyConstraint("user_policies_key", ["user_id"])
      .execute();
    await schema
      .createTable("wall_holds")
      .addColumn("id", "text", (column) => column.notNull())
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("node_id", "text", (column) => column.notNull())
      .addColumn("taken_at", "integer", (column) => column.notNull())
      .addPrimaryKeyConstraint("wall_holds_key", ["id"])
      .execute();
    await schema.createIndex("wall_holds_by_user").on("wall_holds").column("user_id").execute();
    if (!isPostgres(database)) return;
    await sql`CREATE TRIGGER count_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON convoke.user_policies
      FOR EACH STATEMENT EXECUTE FUNCTION convoke.count_change()`.execute(database);
  },
};
