import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Where each webhook stands in each conversation. */
export const webhookCursors: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema
      .createTable("webhooks")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("since_ms", "bigint", (column) => column.notNull())
      .execute();
    await database.schema
      .createTable("webhook_cursors")
      .addColumn("hook_id", "text", (column) => column.notNull().references("webhooks.id"))
      .addColumn("conversation_id", "text", (column) => column.notNull())
      .addColumn("seq", "integer", (column) => column.notNull())
      .addColumn("info_seq", "integer", (column) => column.notNull())
      .addColumn("is_deleted", "integer", (column) => column.notNull())
      .addPrimaryKeyConstraint("webhook_cursors_by_conversation", ["hook_id", "conversation_id"])
      .execute();
  },
};
