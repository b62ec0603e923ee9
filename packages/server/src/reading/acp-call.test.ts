import type { Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import { searchTextOf } from "../journal/search-text.ts";
import { stepOf } from "./atif-step.ts";
import { eventHtml } from "./html/event-html.ts";
import { toMarkdown } from "./transcript.ts";

const begun = {
  kind: "ACPToolCallEvent",
  id: "one",
  source: "agent",
  tool_call_id: "call",
  title: "Run the tests",
  tool_kind: "execute",
  status: "in_progress",
  raw_input: { command: "npm test" },
};
const ended = {
  ...begun,
  status: "completed",
  content: [
    { type: "content", content: { type: "text", text: "all <green>" } },
    { type: "diff", path: "/w/a.ts", oldText: "1", newText: "2" },
  ],
};
const failed = { ...begun, status: "failed", raw_output: { code: 1 } };
const as = (event: object): Event => event as Event;

test("a tool call of another agent is in every transcript once: when it has ended", () => {
  expect(toMarkdown(as(begun)) + eventHtml(as(begun))).toBe("");
  expect(toMarkdown(as(ended))).toBe("### Run the tests\n\n```\nall <green>\n\n/w/a.ts\n```\n\n");
  expect(eventHtml(as(ended))).toContain("<strong>Run the tests</strong>");
  expect(eventHtml(as(ended))).toContain("<pre>all &lt;green&gt;");
  expect(eventHtml(as(ended))).toContain("<code>/w/a.ts</code> +1 -1");
  expect(toMarkdown(as(failed))).toBe('### Run the tests (failed)\n\n```\n{\n  "code": 1\n}\n```\n\n');
  expect(eventHtml(as(failed))).toContain("Failed");
});

test("in a trajectory it is a step with its result", () => {
  expect(stepOf(as(begun))).toBeNull();
  expect(stepOf(as(ended))).toMatchObject({
    source: "agent",
    tool_calls: [{ tool_call_id: "call", function_name: "execute", arguments: { command: "npm test" } }],
    observation: { results: [{ source_call_id: "call", content: "all <green>\n\n/w/a.ts" }] },
  });
});

test("its words are searched", () => {
  expect(searchTextOf(JSON.stringify(ended))?.texts).toEqual(
    expect.arrayContaining(["Run the tests", "npm test", "all <green>"]),
  );
});
