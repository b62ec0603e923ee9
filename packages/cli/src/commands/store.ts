import { resolve } from "node:path";
import { copyStore, readConfig, readDatabase, type CopyPlace } from "@convoke/server/data";
import type { Command } from "commander";
import { exitCodes } from "../exit-codes.ts";

type CopyOptions = { readonly from: string; readonly to: string; readonly json?: true };

export function addStore(program: Command): void {
  const store = program.command("store").description("Move what servers keep from one place to another");
  store
    .command("copy")
    .exitOverride()
    .description(
      "Copy everything between data folders and databases, and compare it; started again, it goes on",
    )
    .requiredOption("--from <place>", "a data folder, or a database: postgres://...")
    .requiredOption("--to <place>", "the same; what is there already stays")
    .option("--json", "print the result as JSON, and no progress")
    .action(copy);
}

async function copy({ from, to, json }: CopyOptions): Promise<void> {
  // Hides the addresses from who lists the processes of this machine: they may hold passwords.
  process.title = "convoke";
  const { masterSecret } = readConfig(process.env, { database: "" });
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
  const { conversations, events, added, rows, kept, conflicts, changed, unopened } = result;
  if (json === true) console.log(JSON.stringify(result));
  else {
    console.log(
      `${conversations} conversations with ${events} events are the same at both places, ${added} of them written now; ${rows} rows of settings, keys and the rest.`,
    );
    for (const row of kept) console.log(`kept      ${row}: the target had another one`);
    for (const conflict of conflicts) console.log(`left out  ${conflict}`);
    for (const change of changed) console.log(`changed   ${change}`);
    if (unopened > 0) console.log(`${unopened} secrets could not be opened at the source either.`);
  }
  if (kept.length + conflicts.length + changed.length > 0) process.exitCode = exitCodes.failed;
}

function toPlace(text: string): CopyPlace {
  const database = /^postgres(?:ql)?:/.test(text) ? readDatabase(process.env, text) : null;
  return database === null ? { dataDir: resolve(text) } : { database };
}
