import type { Migration } from "kysely/migration";
import { firstTables } from "./0001-tables.ts";
import { userRules } from "./0002-user-rules.ts";
import { keyLimits } from "./0003-key-limits.ts";
import { secretHosts } from "./0004-secret-hosts.ts";
import { identities } from "./0005-identities.ts";
import { userPolicies } from "./0006-user-policies.ts";
import { automations } from "./0007-automations.ts";
import { retention } from "./0008-retention.ts";
import { profileRevisions } from "./0009-profile-revisions.ts";
import { extensionCopies } from "./0010-extension-copies.ts";
import { providerLogout } from "./0012-provider-logout.ts";

/** In the order of their names; one that was released is never changed. */
export type Migrations = Readonly<Record<string, Migration>>;

export const allMigrations: Migrations = {
  "0001-tables": firstTables,
  "0002-user-rules": userRules,
  "0003-key-limits": keyLimits,
  "0004-secret-hosts": secretHosts,
  "0005-identities": identities,
  "0006-user-policies": userPolicies,
  "0007-automations": automations,
  "0008-retention": retention,
  "0009-profile-revisions": profileRevisions,
  "0010-extension-copies": extensionCopies,
  "0012-provider-logout": providerLogout,
};

/** Whether an attempt to migrate failed because a newer release has been there before. */
export function isOfNewerRelease(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("corrupted migrations: previously executed");
}

/** Whether the tables, by the names of the migrations that made them, are from before the first release: none reads them. */
export function isUnreleased(done: Iterable<string>): boolean {
  return [...done].includes("0001-users-keys-settings-secrets");
}
