import type { ConfigOverrides } from "@convoke/server";
import type { Command } from "commander";
import { CommandError, exitCodes } from "../exit-codes.ts";

/** Where a command finds what servers keep. */
export type StoreOptions = { readonly dataDir?: string; readonly database?: string };

/** Adds the flags of {@link StoreOptions}; `folder` says what the data folder is to the command. */
export function withStore(
  command: Command,
  folder = "where the server stores its data (default ~/.convoke)",
): Command {
  return command
    .option("--data-dir <directory>", folder)
    .option("--database <url>", "PostgreSQL shared by several servers, instead of the data folder alone");
}

/** As {@link withStore}, for a command that also prints JSON, and whose errors are its caller's. */
export function withStoreAndJson(command: Command, folder?: string): Command {
  return withStore(command.exitOverride(), folder).option("--json", "print JSON");
}

/** Hides the address from who lists the processes of this machine: it may hold a password. */
export function storeOverrides({
  dataDir,
  database,
}: StoreOptions): Pick<ConfigOverrides, "dataDir" | "database"> {
  if (database !== undefined) process.title = "convoke";
  return {
    ...(dataDir === undefined ? {} : { dataDir }),
    ...(database === undefined ? {} : { database }),
  };
}

/** What other commands need to find the same data folder, as one types it; empty for the usual one. */
export function folderFlag({ dataDir }: StoreOptions): string {
  if (dataDir === undefined) return "";
  return ` --data-dir ${/^[\w./~-]+$/u.test(dataDir) ? dataDir : `'${dataDir.replaceAll("'", String.raw`'\''`)}'`}`;
}

/** For what works on files of the data folder and on nothing else. */
export function refuseDatabase(isConfigured: boolean, instead: string): void {
  if (isConfigured)
    throw new CommandError(
      `This command works on a data folder, but a database is configured. ${instead}`,
      exitCodes.usage,
    );
}
