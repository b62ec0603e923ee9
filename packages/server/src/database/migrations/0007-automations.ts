import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/**
 * Work that starts by itself, and its runs: one for each due time or delivery. Deliveries of webhooks that were seen, and how far the events
 * of conversations were read.
 */
export const automations: Migration = {
  async up(database: Kysely<unknown>) {
    const { schema } = database;
    await schema
      .createTable("automations")
      .addColumn("id", "text", (column) => column.notNull())
      .addColumn("owner_id", "text", (column) => column.notNull())
      .addColumn("version", "integer", (column) => column.notNull())
      .addColumn("kind", "text", (column) => column.notNull())
      .addColumn("is_paused", "integer", (column) => column.notNull())
      .addColumn("next_due_at", "integer")
      .addColumn("document", "text", (column) => column.notNull())
      .addColumn("sealed_hook_secret", "text")
      .addColumn("created_at", "integer", (column) => column.notNull())
      .addColumn("updated_at", "integer", (column) => column.notNull())
      .addPrimaryKeyConstraint("automations_key", ["id"])
      .execute();
    await schema
      .createTable("automation_runs")
      .addColumn("id", "text", (column) => column.notNull())
      .addColumn("automation_id", "text", (column) => column.notNull().references("automations.id"))
      .addColumn("due_key", "text", (column) => column.notNull())
      .addColumn("origin", "text", (column) => column.notNull())
      .addColumn("state", "text", (column) => column.notNull())
      .addColumn("reason", "text")
      .addColumn("due_at", "integer", (column) => column.notNull())
      .addColumn("last_due_at", "integer")
      .addColumn("count", "integer", (column) => column.notNull())
      .addColumn("conversation_id", "text")
      .addColumn("payload", "text")
      .addColumn("node_id", "text")
      .addColumn("attempts", "integer", (column) => column.notNull())
      .addColumn("created_at", "integer", (column) => column.notNull())
      .addColumn("started_at", "integer")
      .addColumn("ended_at", "integer")
      .addPrimaryKeyConstraint("automation_runs_key", ["id"])
      .addUniqueConstraint("automation_runs_by_due_key", ["automation_id", "due_key"])
      .execute();
    await schema
      .createTable("automation_deliveries")
      .addColumn("automation_id", "text", (column) => column.notNull())
      .addColumn("key", "text", (column) => column.notNull())
      .addColumn("occurrence", "text", (column) => column.notNull())
      .addColumn("run_id", "text")
      .addColumn("seen_at", "integer", (column) => column.notNull())
      .addPrimaryKeyConstraint("automation_deliveries_key", ["automation_id", "key"])
      .execute();
    await schema
      .createTable("automation_cursors")
      .addColumn("id", "text", (column) => column.notNull())
      .addColumn("at_ms", "integer", (column) => column.notNull())
      .addPrimaryKeyConstraint("automation_cursors_key", ["id"])
      .execute();
    for (const [index, table, columns] of [
      ["automations_by_owner", "automations", ["owner_id", "id"]],
      ["automations_by_due_time", "automations", ["next_due_at"]],
      ["automation_runs_by_automation", "automation_runs", ["automation_id", "id"]],
      ["automation_runs_by_state", "automation_runs", ["state", "id"]],
      ["automation_runs_by_conversation", "automation_runs", ["conversation_id"]],
      ["automation_deliveries_by_time", "automation_deliveries", ["automation_id", "seen_at"]],
    ] as const)
      await schema
        .createIndex(index)
        .on(table)
        .columns([...columns])
        .execute();
  },
};
