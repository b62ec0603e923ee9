import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** What model calls in progress can still cost, for users who may spend so much in a day; `most` is null where nobody knows. */
export const spendHolds: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema
      .createTable("spend_holds")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("node_id", "text", (column) => column.notNull())
      .addColumn("most", "double precision")
      .addColumn("taken_at", "bigint", (column) => column.notNull())
      .execute();
    await database.schema.createIndex("spend_holds_by_user").on("spend_holds").column("user_id").execute();
  },
};
