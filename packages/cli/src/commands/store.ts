import { resolve } from "node:path";
import { copyStore, readConfig, readDatabase, type CopyPlace } from "@convoke/server/data";
import type { Command } from "commander";
import { exitCodes } from "../exit-codes.ts";
import { showSubcommands } from "./show-subcommands.ts";
import { configuredEnvironment } from "../configuration/load-configuration.ts";
import { printJson } from "../print/json.ts";

type CopyOptions = { readonly from: string; readonly to: string; readonly json?: true };

export function addStore(program: Command): void {
  const store = program.command("store").description("Move stored data between data folders and databases");
  store
    .command("copy")
    .exitOverride()
    .description("Copy everything between data folders and databases, and verify it; run it again to resume")
    .requiredOption("--from <place>", "a data folder, or a database: postgres://...")
    .requiredOption("--to <place>", "the same; existing data in it is kept")
    .option("--json", "print the result as JSON, and no progress")
    .action(copy);
  showSubcommands(store);
}

async function copy({ from, to, json }: CopyOptions): Promise<void> {
  // Hides the addresses from who lists the processes of this machine: they may hold passwords.
  process.title = "convoke";
  const { masterSecret } = readConfig(configuredEnvironment(), { database: "" });
  const result = await copyStore({
    from: toPlace(from),
    to: toPlace(to),
    masterSecret,
    logger: {
      info: () => {},
      warn: (_fields, message) => console.error(message),
      error: (_fields, message) => console.error(message),
    },
    onProgress: (conversations) => {
      if (json !== true && conversations % 100 === 0) console.error(`  ${conversations} conversations`);
    },
  });
  const { conversations, events, added, rows, differing, conflicts, changed, unopened } = result;
  if (json === true) printJson("store_copied", result);
  else {
    console.log(
      `${conversations} conversations with ${events} events are identical in source and target, ${added} of them copied now; ${rows} rows of settings, keys and other data.`,
    );
    for (const row of differing) console.log(`kept      ${row}: the target has a different one`);
    for (const conflict of conflicts) console.log(`left out  ${conflict}`);
    for (const change of changed) console.log(`changed   ${change}`);
    if (unopened > 0) console.log(`${unopened} secrets could not be decrypted at the source either.`);
  }
  if (differing.length + conflicts.length + changed.length > 0) process.exitCode = exitCodes.failed;
}

function toPlace(text: string): CopyPlace {
  const database = /^postgres(?:ql)?:/.test(text) ? readDatabase(configuredEnvironment(), text) : null;
  return database === null ? { dataDir: resolve(text) } : { database };
}
