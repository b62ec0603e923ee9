import type { Generated } from "kysely";
import type { AutomationTables } from "./automation-tables.ts";
import type { Fixed } from "./fixed.ts";
import type { LoginTables } from "./login-tables.ts";

/** Times are epoch milliseconds. Texts named `sealed_*` are opened by the data folder's master key only. */
export type Tables = LoginTables &
  AutomationTables & {
    /** The id is the name that the user was given. */
    users: {
      readonly id: Fixed<string>;
      readonly created_at: Fixed<number>;
      /** `admin`, `member` or `viewer`. What it says of `local` is not read: that user is an admin. */
      readonly role: Generated<string>;
      /** From then on the user has neither keys nor logins; null: not disabled. */
      readonly disabled_at: number | null;
    };
    keys: {
      readonly id: Fixed<string>;
      readonly user_id: Fixed<string>;
      /** SHA-256 of the key, in hex. */
      readonly digest: Fixed<string>;
      readonly label: Fixed<string>;
      readonly created_at: Fixed<number>;
      /** To the minute. */
      readonly last_used_at: number | null;
      readonly revoked_at: number | null;
      /** Null: the role of its user. */
      readonly role: Fixed<string | null>;
      /** JSON object; null: everything that its user may reach. */
      readonly scope: Fixed<string | null>;
      readonly expires_at: number | null;
    };
    settings: {
      readonly user_id: Fixed<string>;
      /** Grows by one with each change; a writer that read an older one starts again. */
      readonly version: number;
      readonly sealed_document: string;
      readonly updated_at: number;
    };
    /** What a stored profile was; a row never changes. */
    profile_revisions: {
      readonly user_id: Fixed<string>;
      readonly kind: Fixed<"model" | "agent" | "meta" | "connection" | "settings">;
      /** Stays the same when the profile gets another name. */
      readonly profile: Fixed<string>;
      readonly number: Fixed<number>;
      readonly name: Fixed<string>;
      readonly change: Fixed<"found" | "saved" | "renamed" | "restored">;
      /** The number of the revision that it is a copy of. */
      readonly restored_from: Fixed<number | null>;
      readonly digest: Fixed<string>;
      readonly sealed_content: string;
      /** JSON with `user_id`, `key_id` and `login_id`; null: not recorded. */
      readonly created_by: Fixed<string | null>;
      readonly created_at: Fixed<number>;
    };
    /** A conversation names this revision. */
    revision_pins: {
      readonly user_id: Fixed<string>;
      readonly conversation_id: Fixed<string>;
      readonly kind: Fixed<"model" | "agent" | "meta" | "connection" | "settings">;
      readonly profile: string;
      readonly number: number;
      readonly pinned_at: number;
    };
    secrets: {
      readonly user_id: Fixed<string>;
      readonly name: string;
      readonly description: string | null;
      readonly sealed_value: string;
      /** JSON with `hosts`, `as` and `shape`; null: its value is for tools. */
      readonly binding: string | null;
      readonly updated_at: number;
    };
    start_tasks: {
      readonly id: Fixed<string>;
      readonly owner_id: Fixed<string>;
      readonly conversation_id: Fixed<string>;
      readonly sandbox_id: Fixed<string>;
      readonly status: string;
      readonly detail: string | null;
      /** As it is shown: JSON without secrets. */
      readonly request: Fixed<string>;
      /** What is to be done; gone once the task has ended. */
      readonly sealed_order: string | null;
      /** How often a server began to work on it. */
      readonly attempts: number;
      /** The server that works on it, or did last; null before there were several. */
      readonly node_id: string | null;
      /** 1 once the deletion of the conversation has begun. */
      readonly is_leaving: number;
      readonly created_at: Fixed<number>;
      readonly updated_at: number;
    };
    /** Sandboxes of all machines on a database; those of a data folder have a file of their own. */
    sandboxes: {
      readonly id: Fixed<string>;
      /** Where it runs. */
      readonly machine: Fixed<string>;
      /** Empty while it is nobody's. */
      readonly owner_id: string;
      readonly backend: Fixed<string>;
      /** JSON, as the next. */
      readonly spec: Fixed<string>;
      readonly record: string | null;
      readonly status: string;
      readonly status_detail: string | null;
      readonly wish: string;
      readonly sealed_key: string;
      readonly created_at: number;
    };
    /** Messages for conversations that are still being started, in the order of their numbers. */
    pending_messages: {
      readonly number: Generated<number>;
      readonly id: Fixed<string>;
      readonly conversation_id: Fixed<string>;
      /** JSON. */
      readonly message: Fixed<string>;
    };
    /** `kind` is `workspace` or `parent`; a path is stored once of each. */
    saved_workspaces: {
      readonly user_id: Fixed<string>;
      readonly kind: Fixed<"workspace" | "parent">;
      readonly path: Fixed<string>;
      readonly item_id: string;
      readonly name: string;
      readonly parent_path: string | null;
      readonly created_at: Fixed<number>;
    };
    /** A receiver that was there before; events from before `since_ms` are not for it. */
    webhooks: { readonly id: Fixed<string>; readonly since_ms: Fixed<number> };
    /** What one receiver has acknowledged of one conversation. */
    webhook_cursors: {
      readonly hook_id: Fixed<string>;
      readonly conversation_id: Fixed<string>;
      readonly seq: number;
      /** The seq at which the conversation itself was posted last; -1 before the first time. */
      readonly info_seq: number;
      /** 1 once the conversation is deleted and the receiver was not notified yet. */
      readonly is_deleted: number;
    };
    /** What the model calls of one conversation cost on one day, `YYYY-MM-DD` in UTC; it outlives the conversation. */
    spend_days: {
      readonly user_id: Fixed<string>;
      readonly day: Fixed<string>;
      readonly conversation_id: Fixed<string>;
      /** US dollars. */
      readonly cost: number;
      readonly calls: number;
      readonly prompt_tokens: number;
      readonly completion_tokens: number;
    };
    /** What a user wants to spend at most in US dollars; there is no row for a user who has no wish. */
    user_budgets: { readonly user_id: Fixed<string>; readonly max_budget_per_day: number };
    /** What a user lets agents do, in all conversations. */
    user_rules: {
      readonly user_id: Fixed<string>;
      /** Grows by one with each change. */
      readonly version: number;
      /** JSON list. */
      readonly document: string;
      readonly updated_at: number;
    };
    /** What a user may have at most. */
    user_policies: {
      /** `*` stands for all users. */
      readonly user_id: Fixed<string>;
      /** JSON object. */
      readonly document: string;
      readonly updated_at: number;
    };
    /** A wall that runs; for users with a limit of running walls. */
    wall_holds: {
      readonly id: Fixed<string>;
      readonly user_id: Fixed<string>;
      readonly node_id: Fixed<string>;
      /** Epoch milliseconds, by the clock of the store. */
      readonly taken_at: Fixed<number>;
    };
    /** What a model call in progress can still cost; for users with a budget of a day. */
    spend_holds: {
      readonly id: Fixed<string>;
      readonly user_id: Fixed<string>;
      readonly node_id: Fixed<string>;
      /** US dollars; null where nobody knows. */
      readonly most: Fixed<number | null>;
      /** Epoch milliseconds, by the clock of the store. */
      readonly taken_at: Fixed<number>;
    };
    /** One row: what shows push services who the server is. */
    push_keys: {
      readonly id: Fixed<string>;
      readonly public_key: string;
      readonly sealed_private_key: string;
    };
    push_subscriptions: {
      /** SHA-256 of where the browser is reached, in hex. */
      readonly id: Fixed<string>;
      readonly user_id: string;
      /** Of the key and the login that asked for it: it ends with them. */
      readonly key_id: string | null;
      readonly login_id: string | null;
      /** The host of the push service. */
      readonly service: Fixed<string>;
      /** With commas between them. */
      readonly kinds: string;
      /** JSON: where the browser is reached, and its keys. */
      readonly sealed_endpoint: string;
      readonly created_at: Fixed<number>;
    };
    /** A chat of the OpenAI gateway up to an answer, and the conversation that continues it. */
    chats: {
      readonly user_id: Fixed<string>;
      /** SHA-256 of the model's name and of all messages. */
      readonly digest: Fixed<string>;
      readonly conversation_id: string;
      readonly updated_at: number;
    };
    /** What the address of a model has taught by its refusals, see `models/address`. */
    model_lessons: {
      readonly user_id: Fixed<string>;
      /** A digest: addresses may have secrets in them. */
      readonly address: Fixed<string>;
      /** JSON list. */
      readonly lessons: string;
      readonly updated_at: number;
    };
    /** A folder of a git repository at one commit, as a user fetched it. */
    extension_copies: {
      readonly user_id: Fixed<string>;
      /** A digest of the address, the folder and the commit. */
      readonly id: Fixed<string>;
      /** SHA-256 of everything in it, in hex. */
      readonly digest: Fixed<string>;
      /** The name of its folder. */
      readonly label: Fixed<string>;
      /** Packed, see `folder-content.ts`. */
      readonly content: Fixed<string>;
      readonly created_at: number;
    };
    /** A conversation in the trash of a user; its row in the journal has another owner meanwhile, see `trashOwner`. */
    trashed_conversations: {
      readonly conversation_id: Fixed<string>;
      readonly user_id: Fixed<string>;
      readonly title: Fixed<string | null>;
      /** Who put it there, or which rule did. */
      readonly reason: Fixed<string>;
      readonly trashed_at: Fixed<number>;
      /** When it is deleted. */
      readonly ends_at: Fixed<number>;
    };
    /** A conversation that is not deleted until the hold is lifted. */
    conversation_holds: {
      readonly conversation_id: Fixed<string>;
      readonly user_id: Fixed<string>;
      readonly reason: string;
      readonly held_at: number;
    };
    /** Which conversations of a user go into the trash. */
    retention_policies: {
      readonly user_id: Fixed<string>;
      /** JSON object. */
      readonly document: string;
      readonly updated_at: number;
    };
    /** On PostgreSQL alone. */
    table_versions: { readonly name: string; readonly version: number };
  };

/** Tables that {@link ApplicationDatabase.live} may be asked for; the migrations count their changes. */
export const liveTables = [
  "keys",
  "browser_logins",
  "user_budgets",
  "user_rules",
  "user_policies",
  "users",
] as const satisfies (keyof Tables)[];
