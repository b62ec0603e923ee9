import type { Tables } from "./tables.ts";

/** What rows are found by, in an order in which a row comes after those that it points to. */
export const keysOf = {
  users: ["id"],
  keys: ["id"],
  settings: ["user_id"],
  secrets: ["user_id", "name"],
  start_tasks: ["id"],
  sandboxes: ["id"],
  pending_messages: ["number"],
  saved_workspaces: ["user_id", "kind", "path"],
  webhooks: ["id"],
  webhook_cursors: ["hook_id", "conversation_id"],
  spend_days: ["user_id", "day", "conversation_id"],
  user_budgets: ["user_id"],
  user_rules: ["user_id"],
  spend_holds: ["id"],
  mcp_logins: ["user_id", "id"],
  login_tickets: ["digest"],
  browser_logins: ["id"],
  identities: ["issuer", "subject"],
  login_states: ["digest"],
  push_keys: ["id"],
  push_subscriptions: ["id"],
  chats: ["user_id", "digest"],
  model_lessons: ["user_id", "address"],
} as const satisfies Record<Exclude<keyof Tables, "table_versions">, readonly string[]>;
