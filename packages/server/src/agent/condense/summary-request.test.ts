import type { Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import { summaryRequest } from "./summary-request.ts";

const longArguments = JSON.stringify({ command: `printf '%s' ${"word ".repeat(300)}` });
const earlierNotes = `GOAL: ${"keep every word of this. ".repeat(200)}`;

test("L23.21: a summary is made from whole messages and arguments, and from every word of the one before", () => {
  const call = {
    id: "e1",
    kind: "ActionEvent",
    source: "agent",
    thought: [],
    tool_name: "terminal",
    tool_call_id: "c1",
    tool_call: { id: "c1", name: "terminal", arguments: longArguments, origin: "completion" },
  } as unknown as Event;
  const plan = {
    forgotten: [{ seq: 1, event: call, meta: {} }],
    forgottenIds: ["e1"],
    offset: 0,
    previousSummary: earlierNotes,
  };
  const { messages } = summaryRequest(plan, 8_000);
  const material = messages
    .flatMap(({ content }) => content)
    .map((part) => ("text" in part ? part.text : ""))
    .join("\n");
  expect(material).toContain(earlierNotes);
  expect(material).toContain(longArguments);
});
