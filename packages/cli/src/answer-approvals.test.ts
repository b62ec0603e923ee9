import { PassThrough } from "node:stream";
import { ApiError, type ConvokeClient } from "@convoke/client";
import type { Rule } from "@convoke/protocol";
import { expect, test } from "vitest";
import { answerWaiting, askAboutActions, type Asked } from "./answer-approvals.ts";
import type { Terminal } from "./ask-approval.ts";

const npm: Rule = { effect: "allow", tool: "terminal", command: ["npm", "test", "**"] };
const waiting: Asked = {
  action_id: "a",
  tool_name: "terminal",
  action: { kind: "TerminalAction", command: "npm test x" },
  proposed_rules: [npm],
};

/** A person who enters these lines, one at each question, and what they have read in the end. */
function openTerminal(lines: readonly string[], isJson = false) {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const read = { shown: "" };
  let next = 0;
  const output = new PassThrough();
  output.on("data", (data: Buffer) => {
    read.shown += data.toString();
    if (!/\[n\]o.* $|\[y\/N\] $/su.test(read.shown)) return;
    if (next < lines.length) input.write(`${lines[next++]!}\n`);
    else input.end();
  });
  return { terminal: { input, output, isJson } as unknown as Terminal, read };
}

async function answerWith(lines: readonly string[], asked: readonly Asked[] = [waiting]) {
  const { terminal, read } = openTerminal(lines);
  return { answers: await askAboutActions(asked, terminal), shown: read.shown };
}

/** A server that gives these replies, one to each call: what waits, or a refusal of the answers. */
function clientWith(replies: readonly (readonly Asked[] | ApiError | "stored")[]) {
  const sent: unknown[] = [];
  const left = [...replies];
  const call = async (operation: string, { body }: { body?: unknown }): Promise<unknown> => {
    const reply = left.shift();
    if (operation.startsWith("POST")) sent.push(body);
    if (reply instanceof ApiError) throw reply;
    return reply === "stored" ? {} : { items: reply };
  };
  return { client: { call } as unknown as Pick<ConvokeClient, "call">, sent };
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

test("a refused answer is told in words, and what still waits is asked about again", async () => {
  const full = [
    { loc: ["body", "answers", 0, "scope"], msg: "There may be 500 rules.", type: "value_error" },
  ];
  const { client, sent } = clientWith([[waiting], new ApiError(422, "raw", null, full), [waiting], "stored"]);
  const { terminal, read } = openTerminal(["r", "y", "y"]);
  expect(await answerWaiting(client, "c", terminal)).toBe(true);
  expect(sent).toMatchObject([
    { answers: [{ scope: "rule" }] },
    { answers: [{ action_id: "a", accept: true }] },
  ]);
  expect(read.shown).toContain("Not stored. There may be 500 rules.\n");
  expect(read.shown).not.toContain("raw");
});

test("what somebody else has answered is not asked about again, and the rest is", async () => {
  const taken = new ApiError(409, "raw", "approval_settled", []);
  const both = [waiting, { ...waiting, action_id: "b" }];
  const some = clientWith([both, taken, [{ ...waiting, action_id: "b" }], "stored"]);
  const { terminal, read } = openTerminal(["y", "y", "n"]);
  expect(await answerWaiting(some.client, "c", terminal)).toBe(false);
  expect(some.sent[1]).toMatchObject({ answers: [{ action_id: "b", accept: false }] });
  expect(read.shown).toContain("Somebody else has answered meanwhile; your answers were not stored.\n");
  expect(await answerWaiting(clientWith([[]]).client, "c", terminal)).toBe(true);
});

test("other failures are no words for an answer", async () => {
  const { client } = clientWith([[waiting], new ApiError(500, "broken", null, [])]);
  await expect(answerWaiting(client, "c", openTerminal(["y"]).terminal)).rejects.toThrow("broken");
});
