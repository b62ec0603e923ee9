import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Folders of git repositories that users fetched: plugins, skills and canvas extensions. */
export const extensionCopies: Migration = {
  async up(database: Kysely<unknown>) {
    const { schema } = database;
    await schema
      .createTable("extension_copies")
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("id", "text", (column) => column.notNull())
      .addColumn("digest", "text", (column) => column.notNull())
      .addColumn("label", "text", (column) => column.notNull())
      .addColumn("content", "text", (column) => column.notNull())
      .addColumn("created_at", "integer", (column) => column.notNull())
      .addPrimaryKeyConstraint("extension_copies_key", ["user_id", "id"])
      .execute();
    await schema.createIndex("extension_copies_by_digest").on("extension_copies").column("digest").execute();
  },
};
