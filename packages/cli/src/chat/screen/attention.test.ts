import { expect, test } from "vitest";
import { Attention, type Notifications } from "./attention.ts";

const called = (notifications: Notifications, isTmux: boolean, act: (attention: Attention) => void) => {
  const writes: string[] = [];
  const attention = new Attention({
    write: (text) => writes.push(text),
    notifications,
    hasTitle: true,
    isTmux,
  });
  act(attention);
  return writes.join("");
};
const callUnfocused = (attention: Attention): void => {
  attention.setFocus(false);
  attention.call("a; b: done", 10_000);
};

test.each([
  ["bell", "\u0007"],
  ["osc9", "\u001b]9;a, b: done\u0007"],
  ["osc777", "\u001b]777;notify;Convoke;a, b: done\u0007"],
  ["osc99", "\u001b]99;i=convoke:d=0;Convoke\u001b\\\u001b]99;i=convoke:p=body;a, b: done\u001b\\"],
  ["off", ""],
] as const)("issue 26: %s calls a person whose window has no focus", (notifications, written) => {
  expect(called(notifications, false, callUnfocused)).toBe(written);
});

test("nobody is called whose window has the focus, or who has waited for a short time", () => {
  const calls = called("osc9", false, (attention) => {
    attention.call("one", 60_000);
    attention.setFocus(false);
    attention.call("two", 9_999);
    attention.setFocus(true);
    attention.call("three", 60_000);
  });
  expect(calls).toBe("");
});

test("tmux passes on each sequence, and has its own bell", () => {
  expect(called("osc99", true, callUnfocused)).toBe(
    "\u001bPtmux;\u001b\u001b]99;i=convoke:d=0;Convoke\u001b\u001b\\\u001b\\\u001bPtmux;\u001b\u001b]99;i=convoke:p=body;a, b: done\u001b\u001b\\\u001b\\\u0007",
  );
});
