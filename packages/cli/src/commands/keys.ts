import { join } from "node:path";
import {
  copiesBeforeUpgrade,
  FixedRoleError,
  openKeyStore,
  readConfig,
  rotateMasterKey,
  UserNameError,
  type KeyEntry,
} from "@convoke/server/keys";
import { read } from "@convoke/server/setting";
import { settings } from "@convoke/server/settings";
import type { UserRole } from "@convoke/protocol";
import type { Command } from "commander";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { parseExpiry } from "./parse-expiry.ts";
import { parseConversation, parseRole } from "./parse-options.ts";
import { showSubcommands } from "./show-subcommands.ts";
import { storeOverrides, withStoreAndJson, type StoreOptions } from "./store-options.ts";
import { addUserPolicies } from "./user-policies.ts";
import { addUserStates } from "./user-states.ts";
import { configuredEnvironment } from "../configuration/load-configuration.ts";
import { printJson } from "../print/json.ts";

type CommonOptions = StoreOptions & { readonly json?: true };
type CreateOptions = CommonOptions & {
  readonly user: string;
  readonly label: string;
  readonly expires?: number;
  readonly role?: UserRole;
  readonly conversation?: string;
  readonly readOnly?: true;
};

/** `convoke keys`: works on the store itself, whether a server runs on it or not. */
export function addKeys(program: Command): void {
  const keys = program.command("keys").description("Create, list and revoke API keys");
  withStoreAndJson(keys.command("create"))
    .description("Create a key and print it once; running servers accept it immediately")
    .option("--user <name>", "owner of the key; a new name creates a user", "local")
    .option("--label <text>", "what the key is for", "")
    .option("--role <role>", "viewer, member or admin; at most that of the user", parseRole)
    .option("--conversation <id>", "the only conversation that there is for the key", parseConversation)
    .option("--read-only", "a key that only reads")
    .option("--expires <when>", "end of the key: 12h, 30d, or a date such as 2027-01-31 (UTC)", (text) =>
      parseExpiry(text, Date.now()),
    )
    .action(create);
  withStoreAndJson(keys.command("users")).description("List the users and their roles").action(listUsers);
  withStoreAndJson(keys.command("set-role <user> <role>"))
    .description("Make a user a viewer, a member or an admin; running servers follow within a second")
    .action(setRole);
  addUserStates(keys, withStoreAndJson);
  addUserPolicies(keys, withStoreAndJson);
  withStoreAndJson(keys.command("list")).description("List the keys, without their values").action(list);
  withStoreAndJson(keys.command("revoke <id>"))
    .description("Revoke a key; running servers refuse it from the next request on")
    .action(revoke);
  withStoreAndJson(keys.command("rotate-master"))
    .description("Encrypt all stored secrets with a new master key; stop all servers first")
    .action(rotateMaster);
  showSubcommands(keys);
}

async function create(options: CreateOptions): Promise<void> {
  await using opened = await openStore(options);
  try {
    const { key, entry } = await opened.store.create(options.user, options.label, {
      expiresAtMs: options.expires ?? null,
      role: options.role ?? null,
      scope: scopeOf(options),
    });
    if (options.json === true) printJson("key_created", { key, ...entry });
    else
      console.log(
        `${key}\n  id ${entry.id}, user ${entry.userId}, ${entry.role}${until(entry)}; shown once; only its hash is stored`,
      );
  } catch (error) {
    if (error instanceof UserNameError) throw new CommandError(error.message, exitCodes.usage);
    throw error;
  }
}

async function list(options: CommonOptions): Promise<void> {
  await using opened = await openStore(options);
  const entries = await opened.store.list();
  if (options.json === true) printJson("keys", entries);
  else if (entries.length === 0)
    console.log("There are no keys besides the configured ones and the data folder's own.");
  else for (const entry of entries) console.log(line(entry));
}

async function revoke(id: string, options: CommonOptions): Promise<void> {
  await using opened = await openStore(options);
  const isRevoked = await opened.store.revoke(id);
  if (!isRevoked) throw new CommandError(`There is no active key ${id}. See convoke keys list.`);
  if (options.json === true) printJson("key_revoked", { id, revoked: true });
  else console.log(`Revoked ${id}.`);
}

async function listUsers(options: CommonOptions): Promise<void> {
  await using opened = await openStore(options);
  const users = await opened.store.users.list();
  if (options.json === true) printJson("users", users);
  else if (users.length === 0) console.log("There are no users with keys.");
  else
    for (const { id, role, disabledAtMs: at } of users)
      console.log(`${id.padEnd(12)}  ${role}${at === null ? "" : `  disabled ${minute(at)}`}`);
}

async function setRole(user: string, given: string, options: CommonOptions): Promise<void> {
  const role = parseRole(given);
  await using opened = await openStore(options);
  try {
    if (!(await opened.store.users.setRole(user, role)))
      throw new CommandError(`There is no user ${user}. See convoke keys users.`);
  } catch (error) {
    if (error instanceof FixedRoleError) throw new CommandError(error.message, exitCodes.usage);
    throw error;
  }
  if (options.json === true) printJson("user_role", { id: user, role });
  else console.log(`${user} is now ${role}.`);
}

async function rotateMaster(options: CommonOptions): Promise<void> {
  const { dataDir, database, masterSecret } = readConfig(configuredEnvironment(), storeOverrides(options));
  const next = read(configuredEnvironment(), settings.secret_key_next);
  const secrets = masterSecret === null || next === null ? null : { present: masterSecret, next };
  const result = await rotateMasterKey({ dataDir, database, secrets });
  if (options.json === true) printJson("master_key_rotated", result);
  else {
    console.log(
      `The master key was rotated; ${result.resealed} stored secrets were encrypted with the new one.`,
    );
    if (result.unopened > 0) {
      console.log(`${result.unopened} could not be decrypted: their master key no longer exists.`);
    }
  }
  const copies = database === null ? copiesBeforeUpgrade(dataDir) : [];
  if (copies.length > 0) console.error(copiesNote(copies.map((name) => join(dataDir, name))));
}

/** A copy from before an upgrade is the way back to the earlier version, so only a person can say that it may go. */
function copiesNote(paths: readonly string[]): string {
  const quoted = paths.map((path) => `'${path.replaceAll("'", "'\\''")}'`).join(" ");
  return `Copies from before an upgrade still have secrets that the old master key opens. If you do not go back to the earlier version, remove them:\n  rm ${quoted}`;
}

async function openStore(options: CommonOptions): ReturnType<typeof openKeyStore> {
  const { dataDir, database } = readConfig(configuredEnvironment(), storeOverrides(options));
  return await openKeyStore(dataDir, database);
}

function line(entry: KeyEntry): string {
  const state =
    entry.revokedAtMs !== null
      ? `revoked ${minute(entry.revokedAtMs)}`
      : (entry.expiresAtMs ?? Infinity) <= Date.now()
        ? "expired"
        : entry.lastUsedAtMs === null
          ? "never used"
          : `used ${minute(entry.lastUsedAtMs)}`;
  const shown = `${entry.id}  ${entry.userId.padEnd(12)}  ${entry.role.padEnd(6)}  ${state.padEnd(24)}  ${entry.label}`;
  const { conversation } = entry.scope ?? {};
  return `${shown.trimEnd()}${conversation === undefined ? "" : `, conversation ${conversation}`}${until(entry)}`;
}

function scopeOf({ conversation, readOnly }: CreateOptions): KeyEntry["scope"] {
  if (conversation === undefined && readOnly === undefined) return null;
  return {
    ...(conversation === undefined ? {} : { conversation }),
    ...(readOnly === undefined ? {} : { read_only: readOnly }),
  };
}

function until({ expiresAtMs }: KeyEntry): string {
  return expiresAtMs === null ? "" : `, until ${minute(expiresAtMs)}`;
}

function minute(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 16).replace("T", " ");
}
