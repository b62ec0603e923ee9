import type { Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import { SampleLog } from "@convoke/client/testing";
import type { UnknownRecord } from "@convoke/client/view";
import { createPaint } from "./paint.ts";
import { printable } from "./printable.ts";
import { RowPrinter } from "./row-printer.ts";

/** The lines of a log. */
function linesOf(events: readonly UnknownRecord[]): string[] {
  const printer = new RowPrinter(createPaint(process.stdout));
  return events.flatMap((event) => printer.see(event as unknown as Event));
}

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
  const dirty = "ls\u202e\u009b2J";
  const thought = [{ type: "text", text: dirty }];
  const log = new SampleLog();
  log.message(dirty, "agent");
  const action = { kind: "TerminalAction", command: dirty };
  log.result(log.action(dirty, action, { thought }), { kind: "TerminalObservation", content: thought });
  for (const answer of [
    { kind: "AgentErrorEvent", error: dirty },
    { kind: "UserRejectObservation", rejection_reason: dirty },
  ]) {
    const tool_call_id = `call-${answer.kind}`;
    const id = log.action("terminal", { kind: "TerminalAction", command: "true" }, { tool_call_id });
    log.add({ ...answer, action_id: id, tool_call_id });
  }
  log.add({ kind: "ConversationErrorEvent", code: dirty, detail: dirty });
  const text = linesOf(log.events).join("\n");
  expect(text).not.toMatch(/[\u0080-\u009f\u202e]/u);
  expect(text.split("ls<U+202E><U+009B>2J")).toHaveLength(10);
});

test("what a reviewer decided is told with its reason", () => {
  const answers = [
    { action_id: "a", accept: true, reason: "It only \u202elists." },
    { action_id: "b", accept: false, reason: "It pushes." },
  ];
  const lines = (by: string) => {
    const log = new SampleLog();
    log.state("approvals", { by, answers });
    return linesOf(log.events);
  };
  const text = lines("reviewer").join("\n");
  expect(text).toContain("allowed by the reviewer: ");
  expect(text).toContain("It only <U+202E>lists.");
  expect(text).toContain("left to you by the reviewer: ");
  expect(text).toContain("It pushes.");
  expect(lines("user")).toEqual([]);
});

test("a call for hosts shows all of them and its reason, whatever its summary says", () => {
  const log = new SampleLog();
  const data = { hosts: ["a.example", "*.evil.example"], reason: "The docs." };
  log.action("request_network", { kind: "MCPToolAction", data }, { summary: "Get the docs" });
  expect(linesOf(log.events).join("\n")).toContain("a.example, *.evil.example: The docs.");
});

test("a call is written before its output, and each of them once, however events arrive", () => {
  const log = new SampleLog();
  log.message("go");
  log.command("npm test", "# fail 1", 1);
  log.message("It fails.", "agent");
  const account = ["you  go", "  > terminal  npm test", "    # fail 1", "    [exit 1]", "agent  It fails."];
  expect(linesOf(log.events)).toEqual(account);
  expect(linesOf([...log.events, ...log.events])).toEqual(account);
});
