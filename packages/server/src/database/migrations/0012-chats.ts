import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Which conversation a chat of the OpenAI gateway belongs to: its clients send the whole chat and no id. */
export const chats: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema
      .createTable("chats")
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("digest", "text", (column) => column.notNull())
      .addColumn("conversation_id", "text", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("chats_key", ["user_id", "digest"])
      .execute();
    await database.schema
      .createIndex("chats_by_age")
      .on("chats")
      .columns(["user_id", "updated_at"])
      .execute();
  },
};
