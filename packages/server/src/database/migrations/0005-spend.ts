import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** What model calls have cost, by user, day and conversation, and what users may spend. */
export const spend: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema
      .createTable("spend_days")
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("day", "text", (column) => column.notNull())
      .addColumn("conversation_id", "text", (column) => column.notNull())
      .addColumn("cost", "real", (column) => column.notNull())
      .addColumn("calls", "integer", (column) => column.notNull())
      .addColumn("prompt_tokens", "integer", (column) => column.notNull())
      .addColumn("completion_tokens", "integer", (column) => column.notNull())
      .addPrimaryKeyConstraint("spend_days_by_user", ["user_id", "day", "conversation_id"])
      .execute();
    await database.schema
      .createIndex("spend_days_by_conversation")
      .on("spend_days")
      .column("conversation_id")
      .execute();
    await database.schema
      .createTable("user_budgets")
      .addColumn("user_id", "text", (column) => column.primaryKey())
      .addColumn("max_budget_per_day", "real", (column) => column.notNull())
      .execute();
  },
};
