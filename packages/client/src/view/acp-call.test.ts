import { expect, test } from "vitest";
import { editsOf } from "./edits.ts";
import { foldRows, RowFold } from "./row-fold.ts";
import type { ActionRow } from "./row.ts";
import { summarizeCall } from "./summarize-call.ts";
import type { UnknownRecord } from "./unknown-record.ts";

const begun = {
  kind: "ACPToolCallEvent",
  id: "2",
  timestamp: "2026-01-01T00:00:00Z",
  tool_call_id: "call",
  title: "Run the tests",
  tool_kind: "execute",
  status: "in_progress",
  raw_input: { command: "npm test" },
};
const ended = {
  ...begun,
  id: "4",
  timestamp: "2026-01-01T00:00:03Z",
  status: "completed",
  raw_input: null,
  content: [
    { type: "content", content: { type: "text", text: "all green" } },
    { type: "diff", path: "/w/a.ts", oldText: "1", newText: "2" },
  ],
};

function only(events: readonly UnknownRecord[]): ActionRow {
  const rows = foldRows(events);
  expect(rows).toHaveLength(1);
  return rows[0] as ActionRow;
}

test("the events of a call of another agent are one row, in whatever order they come", () => {
  const row = only([begun, ended]);
  expect(row).toEqual(only([ended, begun]));
  expect(row).toMatchObject({
    id: "2",
    summary: "Run the tests",
    tool: "execute",
    outcome: { id: "4", isError: false },
  });
  expect(row.outcome).toMatchObject({ observation: { content: [{ type: "text", text: "all green" }] } });
  expect(editsOf(row)).toEqual([
    { path: "/w/a.ts", isNew: false, isDeleted: false, before: "1", after: "2" },
  ]);
  expect(summarizeCall(row, "/w")).toEqual({ icon: "terminal", text: "npm test", isCode: true });
});

test("a call that has not ended has no outcome, and one that failed no changes", () => {
  expect(only([begun]).outcome).toBeNull();
  const failed = { ...ended, status: "failed", content: null, raw_output: { code: 1 } };
  const row = only([begun, failed]);
  expect(row.outcome).toMatchObject({
    isError: true,
    observation: { content: [{ type: "text", text: '{\n  "code": 1\n}' }] },
  });
  expect(editsOf(row)).toEqual([]);
});

test("a command's exit code and output are told apart", () => {
  const raw_output = { exit_code: 3, signal: null, output: "out\n" };
  const row = only([begun, { ...ended, status: "failed", content: null, raw_output }]);
  expect(row.outcome).toMatchObject({
    observation: { exit_code: 3, content: [{ type: "text", text: "out\n" }] },
  });
});

test("an id that is used again is another call; an end that is reported twice is not", () => {
  const again = { ...begun, id: "6", title: "Run them again" };
  const rows = foldRows([begun, ended, { ...ended, id: "5" }, again]) as ActionRow[];
  expect(rows.map(({ id, summary, outcome }) => [id, summary, outcome?.id])).toEqual([
    ["2", "Run the tests", "5"],
    ["6", "Run them again", undefined],
  ]);
});

test("a call whose beginning is let go of is shown by its end until it is read again", () => {
  const fold = new RowFold();
  fold.add([begun, ended]);
  const copy = fold.copy();
  fold.dropBefore("3");
  expect(fold.rows().map(({ id }) => id)).toEqual(["4"]);
  fold.add([begun]);
  expect(fold.rows()).toEqual(copy.rows());
  fold.dropAfter("3");
  expect(fold.rows()).toEqual(copy.rows());
});
