import { sql, type CreateTableBuilder, type Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { isPostgres } from "../is-postgres.ts";

/** With a question mark: may be null. `postgres-dialect.ts` says what they are on PostgreSQL. */
type ColumnType = "text" | "text?" | "integer" | "integer?" | "real" | "real?";

type TableShape = {
  readonly columns: Readonly<Record<string, ColumnType>>;
  readonly key: readonly string[];
  /** By column, the table whose `id` it holds. */
  readonly references?: Readonly<Record<string, string>>;
  readonly unique?: string;
  /** The store gives the key, and gives none twice. */
  readonly isNumbered?: boolean;
  readonly indexes?: Readonly<Record<string, readonly string[]>>;
};

/** Everything that is stored besides conversations; `tables.ts` says what stands in it. */
const shapes: Readonly<Record<string, TableShape>> = {
  users: { columns: { id: "text", created_at: "integer" }, key: ["id"] },
  keys: {
    columns: {
      id: "text",
      user_id: "text",
      digest: "text",
      label: "text",
      created_at: "integer",
      last_used_at: "integer?",
      revoked_at: "integer?",
    },
    key: ["id"],
    references: { user_id: "users" },
    unique: "digest",
  },
  settings: {
    columns: { user_id: "text", version: "integer", sealed_document: "text", updated_at: "integer" },
    key: ["user_id"],
  },
  secrets: {
    columns: {
      user_id: "text",
      name: "text",
      description: "text?",
      sealed_value: "text",
      updated_at: "integer",
    },
    key: ["user_id", "name"],
  },
  start_tasks: {
    columns: {
      id: "text",
      owner_id: "text",
      conversation_id: "text",
      sandbox_id: "text",
      status: "text",
      detail: "text?",
      request: "text",
      sealed_order: "text?",
      attempts: "integer",
      node_id: "text?",
      is_leaving: "integer",
      created_at: "integer",
      updated_at: "integer",
    },
    key: ["id"],
    indexes: {
      start_tasks_by_owner: ["owner_id", "created_at", "id"],
      start_tasks_by_conversation: ["conversation_id"],
    },
  },
  sandboxes: {
    columns: {
      id: "text",
      machine: "text",
      owner_id: "text",
      backend: "text",
      spec: "text",
      record: "text?",
      status: "text",
      status_detail: "text?",
      wish: "text",
      sealed_key: "text",
      created_at: "integer",
    },
    key: ["id"],
    indexes: {
      sandboxes_by_owner: ["owner_id", "created_at", "id"],
      sandboxes_by_machine: ["machine", "created_at", "id"],
    },
  },
  pending_messages: {
    columns: { number: "integer", id: "text", conversation_id: "text", message: "text" },
    key: ["number"],
    isNumbered: true,
    unique: "id",
    indexes: { pending_messages_by_conversation: ["conversation_id"] },
  },
  saved_workspaces: {
    columns: {
      user_id: "text",
      kind: "text",
      path: "text",
      item_id: "text",
      name: "text",
      parent_path: "text?",
      created_at: "integer",
    },
    key: ["user_id", "kind", "path"],
  },
  webhooks: { columns: { id: "text", since_ms: "integer" }, key: ["id"] },
  webhook_cursors: {
    columns: {
      hook_id: "text",
      conversation_id: "text",
      seq: "integer",
      info_seq: "integer",
      is_deleted: "integer",
    },
    key: ["hook_id", "conversation_id"],
    references: { hook_id: "webhooks" },
  },
  spend_days: {
    columns: {
      user_id: "text",
      day: "text",
      conversation_id: "text",
      cost: "real",
      calls: "integer",
      prompt_tokens: "integer",
      completion_tokens: "integer",
    },
    key: ["user_id", "day", "conversation_id"],
    indexes: { spend_days_by_conversation: ["conversation_id"] },
  },
  user_budgets: { columns: { user_id: "text", max_budget_per_day: "real" }, key: ["user_id"] },
  spend_holds: {
    columns: { id: "text", user_id: "text", node_id: "text", most: "real?", taken_at: "integer" },
    key: ["id"],
    indexes: { spend_holds_by_user: ["user_id"] },
  },
  mcp_logins: {
    columns: { user_id: "text", id: "text", sealed_state: "text", updated_at: "integer" },
    key: ["user_id", "id"],
  },
  login_tickets: {
    columns: { digest: "text", user_id: "text", key_id: "text?", ends_at: "integer" },
    key: ["digest"],
  },
  browser_logins: {
    columns: {
      id: "text",
      user_id: "text",
      key_id: "text?",
      cookie_digest: "text",
      proof_digest: "text",
      client: "text",
      address: "text",
      created_at: "integer",
      last_used_at: "integer",
      ends_at: "integer",
    },
    key: ["id"],
    unique: "cookie_digest",
  },
  push_keys: { columns: { id: "text", public_key: "text", sealed_private_key: "text" }, key: ["id"] },
  push_subscriptions: {
    columns: {
      id: "text",
      user_id: "text",
      key_id: "text?",
      login_id: "text?",
      service: "text",
      kinds: "text",
      sealed_endpoint: "text",
      created_at: "integer",
    },
    key: ["id"],
    indexes: { push_subscriptions_by_user: ["user_id"] },
  },
  chats: {
    columns: { user_id: "text", digest: "text", conversation_id: "text", updated_at: "integer" },
    key: ["user_id", "digest"],
    indexes: { chats_by_age: ["user_id", "updated_at"] },
  },
  model_lessons: {
    columns: { user_id: "text", address: "text", lessons: "text", updated_at: "integer" },
    key: ["user_id", "address"],
  },
};

export const firstTables: Migration = {
  async up(database: Kysely<unknown>) {
    for (const [name, shape] of Object.entries(shapes)) await createTable(database, name, shape);
    if (isPostgres(database)) await countChanges(database);
  },
};

async function createTable(database: Kysely<unknown>, name: string, shape: TableShape): Promise<void> {
  const { columns, key, references = {}, unique, isNumbered = false, indexes = {} } = shape;
  let table: CreateTableBuilder<string, string> = database.schema.createTable(name);
  for (const [column, type] of Object.entries(columns)) {
    const target = references[column];
    table = table.addColumn(
      column,
      type.endsWith("?") ? (type.slice(0, -1) as "text") : (type as "text"),
      (made) => {
        let built = type.endsWith("?") ? made : made.notNull();
        if (isNumbered && column === key[0]) built = built.primaryKey().autoIncrement();
        if (column === unique) built = built.unique();
        return target === undefined ? built : built.references(`${target}.id`);
      },
    );
  }
  if (!isNumbered) table = table.addPrimaryKeyConstraint(`${name}_key`, [...key]);
  await table.execute();
  for (const [index, indexed] of Object.entries(indexes))
    await database.schema
      .createIndex(index)
      .on(name)
      .columns([...indexed])
      .execute();
}

/** How often each of the tables changed that every process has in memory; SQLite reports it by itself. */
async function countChanges(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable("table_versions")
    .addColumn("name", "text", (column) => column.primaryKey())
    .addColumn("version", "bigint", (column) => column.notNull())
    .execute();
  await sql`CREATE FUNCTION convoke.count_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO convoke.table_versions (name, version) VALUES (TG_TABLE_NAME, 1)
        ON CONFLICT (name) DO UPDATE SET version = convoke.table_versions.version + 1;
      RETURN NULL;
    END $$`.execute(database);
  for (const table of ["keys", "browser_logins", "user_budgets"])
    await sql`CREATE TRIGGER count_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON convoke.${sql.ref(table)}
      FOR EACH STATEMENT EXECUTE FUNCTION convoke.count_change()`.execute(database);
}
