import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { RuleTrial } from "@convoke/protocol";
import { createValidator, type Validator } from "@convoke/protocol/validate";
import type { ServerConfig } from "../boot/config.ts";
import { readServerRules } from "../boot/read-server-rules.ts";
import { openTables } from "../database/open-application-database.ts";
import { systemClock } from "../lib/clock.ts";
import { describeError } from "../lib/describe-error.ts";
import { silentLogger } from "../lib/logger.ts";
import { readRuleFile } from "../security/rules/check-rules.ts";
import { decideByRules } from "../security/rules/decide-by-rules.ts";
import { rulesFrom, type SourcedRule } from "../security/rules/rule.ts";
import { showReading } from "../security/rules/show-reading.ts";
import { RuleStore } from "../settings/rule-store.ts";

/** The rules that count in a folder for a user, but for those of a conversation. */
export type RulesInPlace = { readonly rules: readonly SourcedRule[]; readonly problems: readonly string[] };

export type RulesPlace = {
  readonly config: Pick<ServerConfig, "dataDir" | "database" | "rulesFile">;
  readonly userId: string;
  /** Absolute; of the project. */
  readonly folder: string;
};

/** Reads the rules of the server's file, of the store and of the project; servers may use the store meanwhile. */
export async function readRulesInPlace({ config, userId, folder }: RulesPlace): Promise<RulesInPlace> {
  const validator = createValidator();
  const ofServer = await readServerRules(config.rulesFile, validator);
  await using database = await openTables(config, silentLogger);
  const store = await RuleStore.open({ database, clock: systemClock });
  const { rules: ofUser } = await store.load(userId);
  const project = await readProject(folder, validator);
  return {
    rules: [...rulesFrom("server", ofServer), ...rulesFrom("user", ofUser), ...project.rules],
    problems: project.problems,
  };
}

/** What the rules decide about a command in a folder, and how it is read. */
export function tryCommand({ rules, problems }: RulesInPlace, command: string, folder: string): RuleTrial {
  const places = { workingDir: folder, home: homedir() };
  const call = {
    toolName: "terminal",
    action: { kind: "TerminalAction", command },
    risk: "UNKNOWN",
    places,
  } as const;
  const { decision, reading } = decideByRules(rules, call);
  return {
    effect: decision?.effect ?? "policy",
    decided_by: decision === null ? null : { ...decision, rule: { ...decision.rule } },
    reading: reading === null ? null : showReading(reading),
    problems: [...problems],
  };
}

async function readProject(folder: string, validator: Validator): Promise<RulesInPlace> {
  const path = join(folder, ".convoke", "rules.json");
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { rules: [], problems: [] };
    return { rules: [], problems: [`${path} cannot be read: ${describeError(error)}`] };
  }
  const { rules, problems } = readRuleFile(text, validator, true);
  return { rules: rules.map((rule) => ({ source: "project" as const, ...rule })), problems };
}
