import type { AllowRule, Rule } from "@convoke/protocol";
import { expect, test } from "vitest";
import { describeRule } from "./describe-rule.ts";

const described: readonly [Rule | AllowRule, string][] = [
  [{ effect: "allow", tool: "terminal", command: ["npm", "test", "**"] }, "allow terminal: npm test **"],
  [{ effect: "deny", tool: "terminal", command: ["a b", "c"] }, 'deny terminal: "a b" c'],
  [{ effect: "ask", tool: "file_editor", path: "infra/**" }, "ask file_editor: infra/**"],
  [
    { effect: "allow", tool: "request_network", host: "*.a.example", up_to: "HIGH" },
    "allow request_network: *.a.example (up to HIGH)",
  ],
  [{ tool_name: "terminal", arguments: { command: "ls*" } }, "allow terminal: command=ls*"],
];

test.each(described)("%j is %s", (rule, text) => expect(describeRule(rule)).toBe(text));

test("in another language", () => {
  const words = {
    effects: { allow: "erlaubt", ask: "fragt", deny: "verbietet" },
    upTo: (risk: string) => `bis ${risk}`,
  };
  const rule: Rule = { effect: "allow", tool: "request_network", host: "a.example", up_to: "HIGH" };
  expect(describeRule(rule, words)).toBe("erlaubt request_network: a.example (bis HIGH)");
});
