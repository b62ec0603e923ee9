import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** What the addresses of models have taught by their refusals. */
export const modelLessons: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema
      .createTable("model_lessons")
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("address", "text", (column) => column.notNull())
      .addColumn("lessons", "text", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("model_lessons_key", ["user_id", "address"])
      .execute();
  },
};
