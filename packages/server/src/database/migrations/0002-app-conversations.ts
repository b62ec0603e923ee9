import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Conversations in sandboxes, their starts, and messages that wait for a start. */
export const appConversations: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema
      .createTable("app_conversations")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("owner_id", "text", (column) => column.notNull())
      .addColumn("sandbox_id", "text", (column) => column.notNull())
      .addColumn("parent_id", "text")
      .addColumn("working_dir", "text", (column) => column.notNull())
      .addColumn("selected_repository", "text")
      .addColumn("selected_branch", "text")
      .addColumn("git_provider", "text")
      .addColumn("trigger_name", "text")
      .addColumn("pr_numbers", "text", (column) => column.notNull())
      .addColumn("is_public", "integer")
      .addColumn("is_leaving", "integer", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .execute();
    await database.schema
      .createIndex("app_conversations_by_owner")
      .on("app_conversations")
      .columns(["owner_id", "created_at", "id"])
      .execute();
    await database.schema
      .createIndex("app_conversations_by_sandbox")
      .on("app_conversations")
      .column("sandbox_id")
      .execute();
    await database.schema
      .createIndex("app_conversations_by_parent")
      .on("app_conversations")
      .column("parent_id")
      .execute();
    await database.schema
      .createTable("start_tasks")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("owner_id", "text", (column) => column.notNull())
      .addColumn("conversation_id", "text", (column) => column.notNull())
      .addColumn("sandbox_id", "text", (column) => column.notNull())
      .addColumn("status", "text", (column) => column.notNull())
      .addColumn("detail", "text")
      .addColumn("request", "text", (column) => column.notNull())
      .addColumn("sealed_order", "text")
      .addColumn("attempts", "integer", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .execute();
    await database.schema
      .createIndex("start_tasks_by_owner")
      .on("start_tasks")
      .columns(["owner_id", "created_at", "id"])
      .execute();
    await database.schema
      .createIndex("start_tasks_by_conversation")
      .on("start_tasks")
      .column("conversation_id")
      .execute();
    await database.schema
      .createTable("pending_messages")
      .addColumn("number", "integer", (column) => column.primaryKey().autoIncrement())
      .addColumn("id", "text", (column) => column.notNull().unique())
      .addColumn("conversation_id", "text", (column) => column.notNull())
      .addColumn("message", "text", (column) => column.notNull())
      .execute();
    await database.schema
      .createIndex("pending_messages_by_conversation")
      .on("pending_messages")
      .column("conversation_id")
      .execute();
  },
};
