import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** What logins to MCP servers have brought: tokens, sealed. */
export const mcpLogins: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema
      .createTable("mcp_logins")
      .addColumn("user_id", "text", (column) => column.notNull())
      .addColumn("id", "text", (column) => column.notNull())
      .addColumn("sealed_state", "text", (column) => column.notNull())
      .addColumn("updated_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("mcp_logins_by_user", ["user_id", "id"])
      .execute();
  },
};
