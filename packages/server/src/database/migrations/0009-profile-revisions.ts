import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** What stored profiles were, and the conversations that name one of these states. */
export const profileRevisions: Migration = {
  async up({ schema }: Kysely<unknown>) {
    await schema
      .createTable("profile_revisions")
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("kind", "text", (column) => column.notNull())
      .addColumn("profile", "text", (column) => column.notNull())
      .addColumn("number", "integer", (column) => column.notNull())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("change", "text", (column) => column.notNull())
      .addColumn("restored_from", "integer")
      .addColumn("digest", "text", (column) => column.notNull())
      .addColumn("sealed_content", "text", (column) => column.notNull())
      .addColumn("created_by", "text")
      .addColumn("created_at", "integer", (column) => column.notNull())
      .addPrimaryKeyConstraint("profile_revisions_key", ["user_id", "kind", "profile", "number"])
      .execute();
    await schema
      .createTable("revision_pins")
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("conversation_id", "text", (column) => column.notNull())
      .addColumn("kind", "text", (column) => column.notNull())
      .addColumn("profile", "text", (column) => column.notNull())
      .addColumn("number", "integer", (column) => column.notNull())
      .addColumn("pinned_at", "integer", (column) => column.notNull())
      .addPrimaryKeyConstraint("revision_pins_key", ["user_id", "conversation_id", "kind"])
      .execute();
    await schema
      .createIndex("revision_pins_by_profile")
      .on("revision_pins")
      .columns(["user_id", "kind", "profile"])
      .execute();
  },
};
