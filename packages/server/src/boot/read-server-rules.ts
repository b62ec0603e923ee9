import { readFile } from "node:fs/promises";
import type { Rule } from "@convoke/protocol";
import type { Validator } from "@convoke/protocol/validate";
import { ConfigError } from "../lib/config-error.ts";
import { describeError } from "../lib/describe-error.ts";
import { readRuleFile } from "../security/rules/check-rules.ts";

/** The rules of the file that `CONVOKE_RULES` names; none without it. Rejects with {@link ConfigError} on any mistake. */
export async function readServerRules(path: string | null, validator: Validator): Promise<readonly Rule[]> {
  if (path === null) return [];
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new ConfigError(`The file of CONVOKE_RULES cannot be read: ${describeError(cause)}`, { cause });
  });
  const { rules, problems } = readRuleFile(text, validator, false);
  if (problems.length === 0) return rules.map(({ rule }) => rule);
  const shown = problems.slice(0, 10).map((problem) => `\n  ${problem}`);
  throw new ConfigError(`The rules in ${path} (CONVOKE_RULES) cannot be used:${shown.join("")}`);
}
