import type { Rule } from "@convoke/protocol";
import { createValidator } from "@convoke/protocol/validate";
import { expect, test } from "vitest";
import { readRuleFile, ruleProblem } from "./check-rules.ts";

const sound: readonly Rule[] = [
  { effect: "deny", tool: "terminal", command: ["git", "push", "**"], note: "Ada pushes" },
  { effect: "allow", tool: "terminal", command: ["npm", "test|run", "**"] },
  { effect: "ask", tool: "file_editor", path: "infra/**" },
  { effect: "allow", tool: "request_network", host: "*.corp.example" },
  { effect: "ask", tool: "terminal", command: ["**"] },
  { effect: "allow", tool: "terminal", command: ["git", "*"], up_to: "HIGH" },
  { effect: "deny", tool: "file_editor", path: "../**" },
  { effect: "deny", tool: "file_editor", path: "app/[id]/page.tsx" },
  { effect: "deny", tool: "request_network", host: "*:443" },
  { effect: "deny", tool: "request_network", host: "bücher.example." },
  { effect: "deny", tool: "request_network", host: "::1" },
];

test.each(sound)("%j is sound", (rule) => expect(ruleProblem(rule)).toBeNull());

const wrong: readonly [Rule, string][] = [
  [{ effect: "deny", tool: "terminal", command: ["git push"] }, "command"],
  [{ effect: "deny", tool: "terminal", command: ["git", "**", "x"] }, "command"],
  [{ effect: "allow", tool: "terminal", command: ["*"] }, "command"],
  [{ effect: "allow", tool: "terminal", command: ["git", "a||b"] }, "command"],
  [{ effect: "allow", tool: "file_editor", command: ["view"] }, "command"],
  [{ effect: "deny", tool: "terminal", path: "x" }, "path"],
  [{ effect: "deny", tool: "terminal", command: ["rm", "**"], path: "x" }, "path"],
  [{ effect: "deny", tool: "terminal_run", path: "x" }, "path"],
  [{ effect: "deny", tool: "terminal", host: "a.example" }, "host"],
  [{ effect: "allow", tool: "terminal", command: ["curl", "**"], host: "a.example" }, "host"],
  [{ effect: "deny", tool: "file_editor", path: "~bob/x" }, "path"],
  [{ effect: "deny", tool: "file_editor", path: "src/*.{ts,js}" }, "path"],
  [{ effect: "deny", tool: "file_editor", path: "!src/**" }, "path"],
  [{ effect: "deny", tool: "file_editor", path: "src/**/../x" }, "path"],
  [{ effect: "deny", tool: "request_network", host: "https://x" }, "host"],
  [{ effect: "deny", tool: "request_network", host: "*x.example" }, "host"],
  [{ effect: "deny", tool: "request_network", host: "a.example:0" }, "host"],
  [{ effect: "deny", tool: "request_network", host: "*.10.0.0.1" }, "host"],
  [{ effect: "deny", tool: "request_network", host: "a.*.x" }, "host"],
  [{ effect: "deny", tool: "terminal", up_to: "HIGH" }, "up_to"],
];

test.each(wrong)("%j names its field %s", (rule, field) => expect(ruleProblem(rule)?.field).toBe(field));

test.each([true, false])("a file of rules says that a shell has no host; of a project: %s", (isOfProject) => {
  const rules = [{ effect: "deny", tool: "terminal", host: "a.example" }];
  expect(readRuleFile(JSON.stringify({ rules }), createValidator(), isOfProject)).toEqual({
    rules: [],
    problems: [
      "rules.0.host: Which hosts a shell command reaches is not known. Name its command instead, or bound the conversation's network.",
    ],
  });
});

test("a file's sound rules keep their positions, and each other one is told with its field", () => {
  const rules = [
    { effect: "deny", tool: "terminal", comand: ["x"] },
    { effect: "deny", tool: "terminal" },
    { effect: "allow", tool: "terminal" },
    { effect: "never", tool: "terminal" },
    { effect: "ask", tool: "terminal", command: [] },
    7,
  ];
  const read = readRuleFile(JSON.stringify({ rules, rule: [] }), createValidator(), true);
  expect(read.rules).toEqual([{ index: 1, rule: rules[1] }]);
  expect(read.problems.map((problem) => problem.split(": ")[0])).toEqual([
    "rule",
    "rules.0.comand",
    "rules.2.effect",
    "rules.3.effect",
    "rules.4.command",
    "rules.5",
  ]);
});

test.each(["", "[]", '{"rule":[]}', "{"])("the file %j is told as a whole", (text) => {
  const read = readRuleFile(text, createValidator(), false);
  expect(read).toMatchObject({ rules: [], problems: [expect.any(String)] });
});
