import type { Migration } from "kysely/migration";
import { usersKeysSettingsSecrets } from "./0001-users-keys-settings-secrets.ts";
import { appConversations } from "./0002-app-conversations.ts";
import { savedWorkspaces } from "./0003-saved-workspaces.ts";
import { webhookCursors } from "./0004-webhook-cursors.ts";
import { spend } from "./0005-spend.ts";
import { mcpLogins } from "./0006-mcp-logins.ts";
import { browserLogins } from "./0007-browser-logins.ts";
import { tableVersions } from "./0008-table-versions.ts";
import { sandboxes } from "./0009-sandboxes.ts";
import { spendHolds } from "./0010-spend-holds.ts";
import { push } from "./0011-push.ts";
import { chats } from "./0012-chats.ts";
import { modelLessons } from "./0013-model-lessons.ts";

/** In the order of their names; one that was released is never changed. */
export const allMigrations: Readonly<Record<string, Migration>> = {
  "0001-users-keys-settings-secrets": usersKeysSettingsSecrets,
  "0002-app-conversations": appConversations,
  "0003-saved-workspaces": savedWorkspaces,
  "0004-webhook-cursors": webhookCursors,
  "0005-spend": spend,
  "0006-mcp-logins": mcpLogins,
  "0007-browser-logins": browserLogins,
  "0008-table-versions": tableVersions,
  "0009-sandboxes": sandboxes,
  "0010-spend-holds": spendHolds,
  "0011-push": push,
  "0012-chats": chats,
  "0013-model-lessons": modelLessons,
};

/** Whether an attempt to migrate failed because a newer release has been there before. */
export function isOfNewerRelease(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("corrupted migrations: previously executed");
}
