import type { AllowRule, Rule } from "@convoke/protocol";

/** A rule in one line, such as `allow terminal: npm test **`; one of the older form as it was written. */
export function describeRule(rule: Rule | AllowRule): string {
  const { effect = "allow", tool, command, path, host } = rule;
  if ("tool_name" in rule && rule.tool_name !== undefined) {
    const forms = Object.entries(rule.arguments ?? {}).map(([name, form]) => `${name}=${form}`);
    return [`${effect} ${rule.tool_name}`, ...forms].join(": ");
  }
  const words = command?.map((word) => (/^[^\s"'\\]+$/u.test(word) ? word : JSON.stringify(word))).join(" ");
  const facts = [words, path, host].filter((fact) => fact !== undefined);
  const limit = rule.up_to === undefined ? "" : ` (up to ${rule.up_to})`;
  return `${[`${effect} ${tool ?? ""}`, ...facts].join(": ")}${limit}`;
}
