import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Sandboxes of several machines, and which server works on the start of a conversation in one. */
export const sandboxes: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema
      .createTable("sandboxes")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("machine", "text", (column) => column.notNull())
      .addColumn("owner_id", "text", (column) => column.notNull())
      .addColumn("backend", "text", (column) => column.notNull())
      .addColumn("spec", "text", (column) => column.notNull())
      .addColumn("record", "text")
      .addColumn("status", "text", (column) => column.notNull())
      .addColumn("status_detail", "text")
      .addColumn("wish", "text", (column) => column.notNull())
      .addColumn("sealed_key", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .execute();
    await database.schema
      .createIndex("sandboxes_by_owner")
      .on("sandboxes")
      .columns(["owner_id", "created_at", "id"])
      .execute();
    await database.schema
      .createIndex("sandboxes_by_machine")
      .on("sandboxes")
      .columns(["machine", "created_at", "id"])
      .execute();
    await database.schema.alterTable("start_tasks").addColumn("node_id", "text").execute();
  },
};
