import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Users, their keys, their settings and their secrets. */
export const usersKeysSettingsSecrets: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema
      .createTable("users")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .execute();
    await database.schema
      .createTable("keys")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("user_id", "text", (column) => column.notNull().references("users.id"))
      .addColumn("digest", "text", (column) => column.notNull().unique())
      .addColumn("label", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("last_used_at", "bigint")
      .addColumn("revoked_at", "bigint")
      .execute();
    await database.schema
      .createTable("settings")
      .addColumn("user_id", "text", (column) => column.primaryKey())
      .addColumn("version", "integer", (column) => column.notNull())
      .addColumn("sealed_document", "text", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .execute();
    await database.schema
      .createTable("secrets")
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("description", "text")
      .addColumn("sealed_value", "text", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("secrets_by_name", ["user_id", "name"])
      .execute();
  },
};
