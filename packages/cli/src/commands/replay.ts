import { readConfig, replayConversation, type ReplayReport } from "@convoke/server/replay";
import type { Command } from "commander";
import { CommandError } from "../exit-codes.ts";
import { storeOverrides, withStore, type StoreOptions } from "./store-options.ts";
import { configuredEnvironment } from "../configuration/load-configuration.ts";
import { printJson } from "../print/json.ts";

type ReplayOptions = StoreOptions & { readonly json?: true };

/** `convoke replay`: proves from the store alone what a conversation's model was asked. */
export function addReplay(program: Command): void {
  const command = program
    .command("replay <conversation>")
    .exitOverride()
    .description(
      "Rebuild every model request of a conversation from its log, and compare it with the recorded one",
    );
  withStore(command).option("--json", "print JSON").action(replay);
}

async function replay(conversation: string, { json, ...options }: ReplayOptions): Promise<void> {
  const { dataDir, database } = readConfig(configuredEnvironment(), storeOverrides(options));
  const report = await replayConversation(dataDir, conversation, database);
  if (report === null) {
    const place = database === null ? dataDir : "the database";
    throw new CommandError(`There is no conversation ${conversation} in ${place}.`);
  }
  if (json === true) printJson("replay", report);
  const words = describe(report);
  if (report.difference !== null) throw new CommandError(words);
  if (json !== true) console.log(words);
}

function describe({ verified, unrecorded, difference }: ReplayReport): string {
  const lines = [`${verified} model ${verified === 1 ? "request matches" : "requests match"} the log.`];
  if (unrecorded > 0)
    lines.push(`${unrecorded} have no record, because an older release made them; they were not checked.`);
  if (difference !== null) {
    const { who, eventId, seq, recorded, rebuilt } = difference;
    lines.push(
      `The ${who}'s request before event ${eventId} (number ${seq}) does not: recorded ${recorded}, rebuilt ${rebuilt}.`,
    );
  }
  return lines.join("\n");
}
