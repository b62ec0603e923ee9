import { PassThrough } from "node:stream";
import type { Rule } from "@convoke/protocol";
import { expect, test } from "vitest";
import { askAboutActions, type Asked } from "./answer-approvals.ts";
import type { Terminal } from "./ask-approval.ts";

const npm: Rule = { effect: "allow", tool: "terminal", command: ["npm", "test", "**"] };
const waiting: Asked = {
  action_id: "a",
  tool_name: "terminal",
  action: { kind: "TerminalAction", command: "npm test x" },
  proposed_rules: [npm],
};

/** A person who enters these lines, one at each question, and what they have read in the end. */
async function answerWith(lines: readonly string[], asked: readonly Asked[] = [waiting]) {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  let shown = "";
  let next = 0;
  const output = new PassThrough();
  output.on("data", (data: Buffer) => {
    shown += data.toString();
    if (!/\[n\]o.* $|\[y\/N\] $/su.test(shown)) return;
    if (next < lines.length) input.write(`${lines[next++]!}\n`);
    else input.end();
  });
  const terminal = { input, output, isJson: false } as unknown as Terminal;
  return { answers: await askAboutActions(asked, terminal), shown };
}

test("yes and no are answers for once, and the end of input is a no", async () => {
  expect((await answerWith(["y"])).answers).toEqual([{ action_id: "a", accept: true }]);
  const no = [{ action_id: "a", accept: false, reason: "Not approved at the terminal." }];
  expect((await answerWith(["n"])).answers).toEqual(no);
  expect((await answerWith([])).answers).toEqual(no);
});

test("a rule is shown before it is stored; who does not want it is asked again", async () => {
  const { answers, shown } = await answerWith(["r", "n", "a", "y"]);
  expect(answers).toEqual([{ action_id: "a", accept: true, scope: "conversation", rule: npm }]);
  expect(shown).toContain("Run this? [y]es / [n]o / [a]lways in this conversation / [r]ule ");
  expect(shown).toContain("This is stored for all your conversations:\n  allow terminal: npm test **\n");
  expect(shown).toContain("This is stored for this conversation:\n  allow terminal: npm test **\n");
});

test("several actions are asked about one after the other, and several rules are stored as they were shown", async () => {
  const second = { ...waiting, action_id: "b", proposed_rules: [npm, { ...npm, command: ["ls"] }] };
  const { answers, shown } = await answerWith(["n", "r", "y"], [waiting, second]);
  expect(answers).toMatchObject([{ accept: false }, { action_id: "b", accept: true, scope: "rule" }]);
  expect(answers[1]).not.toHaveProperty("rule");
  expect(shown).toContain("1 of 2: terminal: npm test x\n");
  expect(shown).toContain("  allow terminal: npm test **\n  allow terminal: ls\n");
});

test("what no rule can allow is answered by yes or no", async () => {
  const { answers, shown } = await answerWith(["a"], [{ ...waiting, proposed_rules: [] }]);
  expect(shown).toContain("Run this? [y]es / [n]o ");
  expect(answers).toMatchObject([{ accept: false }]);
});
