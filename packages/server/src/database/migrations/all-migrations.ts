import type { Migration } from "kysely/migration";
import { usersKeysSettingsSecrets } from "./0001-users-keys-settings-secrets.ts";
import { appConversations } from "./0002-app-conversations.ts";

/** In the order of their names; one that was released is never changed. */
export const allMigrations: Readonly<Record<string, Migration>> = {
  "0001-users-keys-settings-secrets": usersKeysSettingsSecrets,
  "0002-app-conversations": appConversations,
};
