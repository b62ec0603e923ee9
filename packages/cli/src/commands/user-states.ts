import { FixedRoleError, openKeyStore, readConfig } from "@convoke/server/keys";
import type { Command } from "commander";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { storeOverrides, type StoreOptions } from "./store-options.ts";
import { configuredEnvironment } from "../configuration/load-configuration.ts";
import { printJson } from "../print/json.ts";

type Options = StoreOptions & { readonly json?: true };

/** `convoke keys disable-user` and `enable-user`. */
export function addUserStates(keys: Command, withCommonOptions: (command: Command) => Command): void {
  withCommonOptions(keys.command("disable-user <user>"))
    .description(
      "End all keys and logins of a user, who gets no further ones; running servers follow within a second",
    )
    .action((user: string, options: Options) => change(user, true, options));
  withCommonOptions(keys.command("enable-user <user>"))
    .description("Let a disabled user log in and have keys again; those from before stay ended")
    .action((user: string, options: Options) => change(user, false, options));
}

async function change(user: string, isDisabled: boolean, options: Options): Promise<void> {
  const { dataDir, database } = readConfig(configuredEnvironment(), storeOverrides(options));
  await using opened = await openKeyStore(dataDir, database);
  const { users } = opened.store;
  try {
    const isThere = await (isDisabled ? users.disable(user, Date.now()) : users.enable(user));
    if (!isThere) throw new CommandError(`There is no user ${user}. See convoke keys users.`);
  } catch (error) {
    if (error instanceof FixedRoleError) throw new CommandError(error.message, exitCodes.usage);
    throw error;
  }
  if (options.json === true) {
    printJson("user_state", { id: user, disabled: isDisabled });
    return;
  }
  console.log(isDisabled ? `${user} is disabled; all keys and logins have ended.` : `${user} is enabled.`);
}
