import type { PendingApproval } from "@convoke/protocol";
import { expect, test } from "vitest";
import type { Key } from "../input/key-reader.ts";
import { createTheme } from "../screen/theme.ts";
import { Question, type ApprovalAnswer } from "./question.ts";

const theme = createTheme({ hasColour: false, isAscii: false, mayMove: false });

function approval(command: string, more: Partial<PendingApproval> = {}): PendingApproval {
  return {
    conversation_id: "c",
    action_id: `a-${command}`,
    tool_name: "terminal",
    tool_call_id: "call",
    action: { kind: "TerminalAction", command },
    summary: null,
    security_risk: "MEDIUM",
    reasons: [],
    requested_at: "2026-01-31T12:00:00Z",
    deadline: null,
    on_timeout: null,
    decided_by: null,
    proposed_rules: [],
    wall: "none",
    ...more,
  };
}

function openQuestion(...items: PendingApproval[]) {
  return openQuestionAt(false, items);
}

function openQuestionAt(readsLines: boolean, items: readonly PendingApproval[]) {
  const answers: ApprovalAnswer[][] = [];
  const details: string[] = [];
  let now = 1_000;
  const question = new Question({
    theme,
    nowMs: () => now,
    readsLines,
    answer: (given) => answers.push([...given]),
    tryRules: async () => "It would have let 3 of 9 calls pass.",
    showDetails: (text) => details.push(text),
    onChange: () => {},
  });
  question.set(items);
  const key = (name: string): Key => ({ type: "key", name, ctrl: false, alt: false, shift: false });
  return {
    question,
    answers,
    details,
    wait: (ms: number) => (now += ms),
    type: (text: string) => question.press({ type: "text", text }),
    press: (name: string) => question.press(key(name)),
  };
}

test("keys of the first 300 milliseconds answer nothing, and are not typed either", () => {
  const { type, wait, answers } = openQuestion(approval("npm test"));
  expect(type("y")).toBe(true);
  wait(299);
  expect(type("y")).toBe(true);
  expect(answers).toEqual([]);
  wait(1);
  type("y");
  expect(answers).toEqual([[{ action_id: "a-npm test", accept: true }]]);
});

test("the next question has its own 300 milliseconds", () => {
  const { question, type, wait, answers } = openQuestion(approval("one"), approval("two"));
  wait(300);
  type("y");
  question.set([approval("two")]);
  type("y");
  expect(answers).toHaveLength(1);
});

test("one of high risk runs only after the word was typed, and is never among all", () => {
  const { question, type, press, wait, answers } = openQuestion(
    approval("rm -rf /", { security_risk: "HIGH" }),
    approval("ls"),
  );
  wait(300);
  type("Y");
  type("y");
  expect(question.isTyping).toBe(true);
  type("y");
  press("enter");
  expect(answers).toEqual([]);
  type("y");
  type("yes");
  press("enter");
  expect(answers).toEqual([[{ action_id: "a-rm -rf /", accept: true }]]);
});

test("all at once, no, and no with a reason", () => {
  const { type, press, wait, answers } = openQuestion(approval("one"), approval("two"));
  wait(300);
  type("Y");
  wait(300);
  type("n");
  wait(300);
  type("e");
  type("use npm ci");
  press("enter");
  expect(answers).toEqual([
    [
      { action_id: "a-one", accept: true },
      { action_id: "a-two", accept: true },
    ],
    [{ action_id: "a-one", accept: false, reason: "Not approved at the terminal." }],
    [{ action_id: "a-one", accept: false, reason: "use npm ci" }],
  ]);
});

test("a rule is shown with what it would have let pass before it is stored", async () => {
  const rule = { effect: "allow" as const, command: ["npm", "test", "*"] };
  const { question, type, wait, answers } = openQuestion(
    approval("npm test -- a", { proposed_rules: [rule] as unknown as PendingApproval["proposed_rules"] }),
  );
  wait(300);
  type("a");
  await Promise.resolve();
  const text = question.lines(80).join("\n");
  expect(text).toContain("npm test *");
  expect(text).toContain("It would have let 3 of 9 calls pass.");
  expect(answers).toEqual([]);
  type("y");
  expect(answers).toEqual([[{ action_id: "a-npm test -- a", accept: true, scope: "conversation", rule }]]);
});

test("what is left waiting takes no letters until it is asked for again", () => {
  const { question, type, press, wait, answers } = openQuestion(approval("one"));
  wait(300);
  press("escape");
  expect(type("y")).toBe(false);
  expect(question.lines(80).join()).toContain("1 waiting");
  press("tab");
  wait(300);
  type("y");
  expect(answers).toHaveLength(1);
});

test("Q11, S37: what an agent asks for drives no terminal and hides nothing", () => {
  const { question, details, type, wait } = openQuestion(
    approval("ls\u202e\u009b2J\nrm -rf ~", { reasons: ["odd\u001b[2J"] }),
  );
  wait(300);
  type("d");
  const text = [...question.lines(80), ...details].join("\n");
  expect(text).toContain("ls<U+202E><U+009B>2J");
  expect(text).toContain("2 lines: d");
  expect(details.join()).toContain("rm -rf ~");
  // oxlint-disable-next-line no-control-regex -- what must not be there
  expect(text).not.toMatch(/[\u001b\u009b\u202e]/u);
});

test("a narrow window shows all keys and the whole command, a wide one has them in a line each", () => {
  const { question } = openQuestion(
    approval("rm -rf build && npm run build -- --production", { security_risk: "HIGH" }),
  );
  expect(question.lines(40)).toEqual([
    "? Run  rm -rf build && npm run build --",
    "  --production  HIGH",
    "  y once  n no  e say why  d details",
    "  esc leave it waiting",
  ]);
  expect(question.lines(100)).toEqual([
    "? Run  rm -rf build && npm run build -- --production  HIGH",
    "  y once   n no   e say why   d details   esc leave it waiting",
  ]);
});

test("all at once are offered only where none is of high risk", () => {
  const high = openQuestion(approval("one"), approval("two", { security_risk: "HIGH" }));
  expect(high.question.lines(80).join()).not.toContain("Y all");
  const medium = openQuestion(approval("one"), approval("two"));
  expect(medium.question.lines(80).join()).toContain("Y all");
});

test("where the terminal edits lines, the enter behind a letter is part of it, and the next line is the answer", () => {
  const high = openQuestionAt(true, [approval("one", { security_risk: "HIGH" })]);
  high.wait(300);
  high.type("y");
  high.press("enter");
  expect(high.question.lines(80).join()).toContain("Type yes and enter");
  high.type("yes");
  high.press("enter");
  const low = openQuestionAt(true, [approval("two")]);
  low.wait(300);
  low.type("e");
  low.press("enter");
  expect(low.answers).toEqual([]);
  low.type("Not now.");
  low.press("enter");
  expect([...high.answers, ...low.answers]).toEqual([
    [{ action_id: "a-one", accept: true }],
    [{ action_id: "a-two", accept: false, reason: "Not now." }],
  ]);
});

test("a line that says yes answers where the terminal edits lines, also for high risk", () => {
  const { question, type, press, wait, answers } = openQuestion(approval("one", { security_risk: "HIGH" }));
  wait(300);
  type("yes");
  expect(question.isTyping).toBe(true);
  press("enter");
  wait(300);
  type("no");
  expect(answers).toEqual([
    [{ action_id: "a-one", accept: true }],
    [{ action_id: "a-one", accept: false, reason: "Not approved at the terminal." }],
  ]);
});
