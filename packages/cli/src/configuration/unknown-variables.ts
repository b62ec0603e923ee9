import type { Environment } from "@convoke/server/setting";
import { settingKeys, settingOfVariable, settings } from "@convoke/server/settings";
import { nearMiss } from "@convoke/protocol/near-miss";

/** Set by Convoke for its own processes and those of agents, or for its tests; no settings. */
const ownVariables = new Set([
  "CONVOKE_CONFIG",
  "CONVOKE_LAUNCHER",
  "CONVOKE_PROCESS_SHARE",
  "CONVOKE_PASS_ENVIRONMENT",
  "CONVOKE_TRUSTED_KEY",
  "CONVOKE_GIT_TOKEN",
  "CONVOKE_COMMAND",
  "CONVOKE_SHELL",
  "CONVOKE_PIPED",
  "CONVOKE_BASH",
  "CONVOKE_SESSION",
  "CONVOKE_OWNER",
  "CONVOKE_SEED",
  "CONVOKE_AGENT_CANVAS",
]);
const ownPrefixes = ["CONVOKE_TEST_", "CONVOKE_EVERY_"];

/** A line for each variable with our prefix that means nothing, such as a typo. */
export function describeUnknownVariables(environment: Environment): readonly string[] {
  const known = settingKeys.flatMap((key) => [settings[key].variable, ...settings[key].aliases]);
  return Object.keys(environment)
    .filter((name) => name.startsWith("CONVOKE_") && !isKnown(name))
    .sort()
    .map((name) => {
      const near = nearMiss(name, known);
      return `${name} is no setting, so it has no effect.${near === null ? "" : ` Did you mean ${near}?`}`;
    });
}

function isKnown(name: string): boolean {
  if (ownVariables.has(name) || ownPrefixes.some((prefix) => name.startsWith(prefix))) return true;
  const key = settingOfVariable(name) ?? settingOfVariable(name.replace(/_FILE$/, ""));
  return key !== null && (!name.endsWith("_FILE") || settings[key].isSecret);
}
