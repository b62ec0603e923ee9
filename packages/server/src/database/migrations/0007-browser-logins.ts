import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Browsers that are logged in, and what logs them in: digests alone. */
export const browserLogins: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema
      .createTable("login_tickets")
      .addColumn("digest", "text", (column) => column.primaryKey())
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("key_id", "text")
      .addColumn("ends_at", "bigint", (column) => column.notNull())
      .execute();
    await database.schema
      .createTable("browser_logins")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("key_id", "text")
      .addColumn("cookie_digest", "text", (column) => column.notNull().unique())
      .addColumn("proof_digest", "text", (column) => column.notNull())
      .addColumn("client", "text", (column) => column.notNull())
      .addColumn("address", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("last_used_at", "bigint", (column) => column.notNull())
      .addColumn("ends_at", "bigint", (column) => column.notNull())
      .execute();
  },
};
