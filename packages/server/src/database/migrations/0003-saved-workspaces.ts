import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Directories that users want to find again. */
export const savedWorkspaces: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema
      .createTable("saved_workspaces")
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("kind", "text", (column) => column.notNull())
      .addColumn("path", "text", (column) => column.notNull())
      .addColumn("item_id", "text", (column) => column.notNull())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("parent_path", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("saved_workspaces_by_path", ["user_id", "kind", "path"])
      .execute();
  },
};
