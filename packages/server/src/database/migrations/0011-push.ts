import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Browsers that are told while no page is open, and the pair of keys with which the server shows push services who it is. */
export const push: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema
      .createTable("push_keys")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("public_key", "text", (column) => column.notNull())
      .addColumn("sealed_private_key", "text", (column) => column.notNull())
      .execute();
    await database.schema
      .createTable("push_subscriptions")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("key_id", "text")
      .addColumn("login_id", "text")
      .addColumn("service", "text", (column) => column.notNull())
      .addColumn("kinds", "text", (column) => column.notNull())
      .addColumn("sealed_endpoint", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .execute();
    await database.schema
      .createIndex("push_subscriptions_by_user")
      .on("push_subscriptions")
      .column("user_id")
      .execute();
  },
};
