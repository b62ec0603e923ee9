import { resolve } from "node:path";
import { readConfig, readRulesInPlace, tryCommand } from "@convoke/server/rules";
import type { Command } from "commander";
import { ruleLines, trialLines } from "../print/rule-lines.ts";
import { showSubcommands } from "./show-subcommands.ts";
import { storeOverrides, withStore, type StoreOptions } from "./store-options.ts";
import { configuredEnvironment } from "../configuration/load-configuration.ts";
import { printJson } from "../print/json.ts";

type RuleOptions = StoreOptions & {
  readonly user: string;
  readonly workspace: string;
  readonly json?: true;
};

/** `convoke rules`: works on the store itself, whether a server runs on it or not. */
export function addRules(program: Command): void {
  const rules = program
    .command("rules")
    .description("Show and try the rules about what agents may do")
    .option("--json", "print JSON");
  withRuleOptions(rules.command("ls"))
    .description("List the rules that count in this folder: those of server, user and project")
    .action(list);
  withRuleOptions(rules.command("try <command>"))
    .description("Say which rule decides about a shell command and how it is read; runs nothing")
    .action(attempt);
  showSubcommands(rules);
}

function withRuleOptions(command: Command): Command {
  return withStore(command.exitOverride())
    .option("--user <name>", "whose rules", "local")
    .option("--workspace <directory>", "the project", ".")
    .option("--json", "print JSON");
}

async function list(_: RuleOptions, command: Command): Promise<void> {
  const options = command.optsWithGlobals<RuleOptions>();
  const { rules, problems } = await readRulesInPlace(placeOf(options));
  if (options.json === true) printJson("rules", { rules, problems });
  else console.log(ruleLines(rules, problems).join("\n"));
}

async function attempt(text: string, _: RuleOptions, command: Command): Promise<void> {
  const options = command.optsWithGlobals<RuleOptions>();
  const place = placeOf(options);
  const trial = tryCommand(await readRulesInPlace(place), text, place.folder);
  if (options.json === true) printJson("rule_trial", trial);
  else console.log(trialLines(trial).join("\n"));
}

function placeOf(options: RuleOptions): Parameters<typeof readRulesInPlace>[0] {
  const config = readConfig(configuredEnvironment(), storeOverrides(options));
  return { config, userId: options.user, folder: resolve(options.workspace) };
}
