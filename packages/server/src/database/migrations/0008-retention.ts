import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** The trash, holds of conversations, and the retention policies of users. */
export const retention: Migration = {
  async up(database: Kysely<unknown>) {
    const { schema } = database;
    await schema
      .createTable("trashed_conversations")
      .addColumn("conversation_id", "text", (column) => column.notNull())
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("title", "text")
      .addColumn("reason", "text", (column) => column.notNull())
      .addColumn("trashed_at", "integer", (column) => column.notNull())
      .addColumn("ends_at", "integer", (column) => column.notNull())
      .addPrimaryKeyConstraint("trashed_conversations_key", ["conversation_id"])
      .execute();
    await schema
      .createIndex("trashed_conversations_by_user")
      .on("trashed_conversations")
      .columns(["user_id", "trashed_at", "conversation_id"])
      .execute();
    await schema
      .createIndex("trashed_conversations_by_end")
      .on("trashed_conversations")
      .column("ends_at")
      .execute();
    await schema
      .createTable("conversation_holds")
      .addColumn("conversation_id", "text", (column) => column.notNull())
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("reason", "text", (column) => column.notNull())
      .addColumn("held_at", "integer", (column) => column.notNull())
      .addPrimaryKeyConstraint("conversation_holds_key", ["conversation_id"])
      .execute();
    await schema
      .createIndex("conversation_holds_by_user")
      .on("conversation_holds")
      .columns(["user_id", "held_at"])
      .execute();
    await schema
      .createTable("retention_policies")
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("document", "text", (column) => column.notNull())
      .addColumn("updated_at", "integer", (column) => column.notNull())
      .addPrimaryKeyConstraint("retention_policies_key", ["user_id"])
      .execute();
  },
};
