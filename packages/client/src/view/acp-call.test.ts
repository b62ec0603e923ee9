import { expect, test } from "vitest";
import { foldRows } from "./row-fold.ts";

const call = { kind: "ACPToolCallEvent", tool_call_id: "c1", title: "List files", tool_kind: "execute" };
const begun = { ...call, id: "2", timestamp: "t2", status: "pending", raw_input: { command: "ls" } };
const asked = {
  kind: "ActionEvent",
  id: "3",
  timestamp: "t3",
  tool_name: "terminal",
  tool_call_id: "c1",
  action: { kind: "TerminalAction", command: "ls" },
};
const ended = { ...call, id: "4", timestamp: "t4", status: "completed", raw_output: { output: "a.txt" } };

test("a call of another agent is one row, with its outcome, in whatever order its events come", () => {
  for (const events of [
    [begun, ended],
    [ended, begun],
  ])
    expect(foldRows(events)).toMatchObject([
      {
        type: "action",
        id: "2",
        tool: "execute",
        summary: "List files",
        action: { kind: "TerminalAction", command: "ls" },
        outcome: { type: "result", isError: false, observation: { content: [{ text: "a.txt" }] } },
      },
    ]);
});

test("the permission for a call is a row of its own, which the call's end does not answer", () => {
  const rows = foldRows([begun, asked, ended]);
  expect(rows).toMatchObject([
    { id: "2", outcome: { id: "4" } },
    { id: "3", outcome: null },
  ]);
  const failed = foldRows([begun, { ...ended, status: "failed", raw_output: "no" }]);
  expect(failed).toMatchObject([{ outcome: { isError: true, observation: { content: [{ text: "no" }] } } }]);
});
