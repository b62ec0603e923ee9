import type { Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import { describeEvent } from "./event-printer.ts";
import { createPaint } from "./paint.ts";
import { printable } from "./printable.ts";

test.each([
  ["\u001b[31mred\u001b[0m and \u001b]0;title\u0007text\r\nnext\tcell", "red and text\nnext\tcell"],
  ["\u001b]8;;https://evil\u001b\\link\u001b]8;;\u001b\\", "link"],
  ["a\u009b31mb\u009d0;title\u009cc", "a<U+009B>31mb<U+009D>0;title<U+009C>c"],
  ["rm -rf /tmp/\u202eslaer\u2066x\u2069", "rm -rf /tmp/<U+202E>slaer<U+2066>x<U+2069>"],
  ["\u200bpa\u2028y\ufeff\u{e0041}\u0000\u001b", "<U+200B>pa<U+2028>y<U+FEFF><U+E0041><U+0000><U+001B>"],
  [
    "bl\u00f6d \u4f60\u597d \u{1f468}\u200d\u{1f469} \u0645\u06cc\u200c\u062e",
    "bl\u00f6d \u4f60\u597d \u{1f468}\u200d\u{1f469} \u0645\u06cc\u200c\u062e",
  ],
])("Q11, S37: %j drives no terminal and hides nothing", (text, shown) => {
  expect(printable(text)).toBe(shown);
});

test("Q11, S37: so it is with the command, the output and the error of an event", () => {
  const paint = createPaint(process.stdout);
  const dirty = "ls\u202e\u009b2J";
  const parts = [{ type: "text", text: dirty }];
  const events = [
    { kind: "MessageEvent", source: "agent", llm_message: { role: "assistant", content: parts } },
    {
      kind: "ActionEvent",
      thought: parts,
      tool_name: dirty,
      action: { kind: "TerminalAction", command: dirty },
    },
    { kind: "ObservationEvent", observation: { kind: "TerminalObservation", content: parts } },
    { kind: "AgentErrorEvent", error: dirty },
    { kind: "UserRejectObservation", rejection_reason: dirty },
    { kind: "ConversationErrorEvent", code: dirty, detail: dirty },
  ] as unknown as Event[];
  const text = events.flatMap((event) => describeEvent(event, paint)).join("\n");
  expect(text).not.toMatch(/[\u0080-\u009f\u202e]/u);
  expect(text.split("ls<U+202E><U+009B>2J")).toHaveLength(10);
});

test("what a reviewer decided is told with its reason", () => {
  const answers = [
    { action_id: "a", accept: true, reason: "It only \u202elists." },
    { action_id: "b", accept: false, reason: "It pushes." },
  ];
  const paint = createPaint(process.stdout);
  const lines = (by: string) =>
    describeEvent(
      { kind: "ConversationStateUpdateEvent", key: "approvals", value: { by, answers } } as unknown as Event,
      paint,
    );
  const text = lines("reviewer").join("\n");
  expect(text).toContain("allowed by the reviewer: ");
  expect(text).toContain("It only <U+202E>lists.");
  expect(text).toContain("left to you by the reviewer: ");
  expect(text).toContain("It pushes.");
  expect(lines("user")).toEqual([]);
});

test("a call for hosts shows all of them and its reason, whatever its summary says", () => {
  const event = {
    kind: "ActionEvent",
    thought: [],
    tool_name: "request_network",
    summary: "Get the docs",
    action: {
      kind: "MCPToolAction",
      data: { hosts: ["a.example", "*.evil.example"], reason: "The docs." },
    },
  } as unknown as Event;
  expect(describeEvent(event, createPaint(process.stdout)).join("\n")).toContain(
    "a.example, *.evil.example: The docs.",
  );
});
