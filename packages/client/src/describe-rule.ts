import type { AllowRule, Rule } from "@convoke/protocol";

/** The words of a rule in the language of its reader; `upTo` gets a risk such as `HIGH`. */
export type RuleWords = {
  readonly effects: Readonly<Record<Rule["effect"], string>>;
  readonly upTo: (risk: string) => string;
};

const english: RuleWords = {
  effects: { allow: "allow", ask: "ask", deny: "deny" },
  upTo: (risk) => `up to ${risk}`,
};

/** A rule in one line, such as `allow terminal: npm test **`; one of the older form as it was written. */
export function describeRule(rule: Rule | AllowRule, words: RuleWords = english): string {
  const { effect: given = "allow", tool, command, path, host } = rule;
  const effect = (words.effects as Readonly<Record<string, string>>)[given] ?? given;
  if ("tool_name" in rule && rule.tool_name !== undefined) {
    const named = Object.entries(rule.arguments ?? {}).map(([name, pattern]) => `${name}=${pattern}`);
    return [`${effect} ${rule.tool_name}`, ...named].join(": ");
  }
  const shown = command?.map((word) => (/^[^\s"'\\]+$/u.test(word) ? word : JSON.stringify(word))).join(" ");
  const facts = [shown, path, host].filter((fact) => fact !== undefined);
  const limit = rule.up_to === undefined ? "" : ` (${words.upTo(rule.up_to)})`;
  return `${[`${effect} ${tool ?? ""}`, ...facts].join(": ")}${limit}`;
}
