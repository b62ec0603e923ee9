import type { FollowItem } from "@convoke/client";
import type { Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import { SessionUpdates } from "./session-updates.ts";

const signal = (frame: Record<string, unknown>): FollowItem => ({ type: "signal", frame });
const event = (fields: object): FollowItem => ({
  type: "event",
  event: fields as Event,
  json: "",
  trimmed: null,
});
const delta = (seq: number, text: string, type = "text"): FollowItem =>
  signal({ kind: "AnswerDelta", answer_id: "a", seq, item: { type, index: 0 }, text });
const end = (outcome: string, id: string | null = "r-1"): FollowItem =>
  signal({ kind: "AnswerEnd", answer_id: "a", seq: 9, outcome, llm_response_id: id });
const answer = (text: string, id: string | null = "r-1"): FollowItem =>
  event({
    kind: "MessageEvent",
    id: "m-1",
    source: "agent",
    llm_response_id: id,
    llm_message: { role: "assistant", content: [{ type: "text", text }] },
  });
const action = (fields: object): FollowItem =>
  event({ kind: "ActionEvent", tool_call_id: "call-1", llm_response_id: "r-1", thought: [], ...fields });

/** The words that are shown in the end. */
function words(items: readonly FollowItem[]): string {
  const updates = new SessionUpdates("/work");
  return items
    .flatMap((item) => updates.of(item))
    .map((update) => (update.sessionUpdate === "agent_message_chunk" ? update.content : null))
    .map((content) => (content?.type === "text" ? content.text : ""))
    .join("");
}

test("an answer is shown once: as it comes, what was not streamed of it, or all of it", () => {
  expect(words([answer("Hello there")])).toBe("Hello there");
  expect(words([delta(1, "Hello"), delta(2, " there"), end("done"), answer("Hello there")])).toBe(
    "Hello there",
  );
  expect(words([delta(1, "Hello"), end("done"), answer("Hello there")])).toBe("Hello there");
  // Its end was dropped on the way.
  expect(words([delta(1, "Hello"), answer("Hello there")])).toBe("Hello there");
  // Pieces were dropped: the whole text comes below.
  expect(words([delta(1, "Hel"), delta(3, "there"), end("done"), answer("Hello there")])).toBe(
    "Helthere\n\nHello there",
  );
  // An interrupt left what there was.
  expect(words([delta(1, "Hel"), end("cut", null), answer("Hel", null)])).toBe("Hel");
  // The attempt failed; the next one has an id of its own.
  expect(words([delta(1, "Oh"), end("void", null), answer("Hello there")])).toBe("OhHello there");
});

test("only the first call of an answer has its words", () => {
  const thought = [{ type: "text", text: "I look." }];
  const call = { tool_name: "terminal", action: { kind: "TerminalAction", command: "ls\npwd" }, thought };
  const updates = new SessionUpdates("/work");
  const kinds = [action({ id: "1", ...call }), action({ id: "2", ...call })]
    .flatMap((item) => updates.of(item))
    .map(({ sessionUpdate }) => sessionUpdate);
  expect(kinds).toEqual(["agent_message_chunk", "tool_call", "tool_call"]);
  expect(updates.closeCalls("Over.")).toMatchObject([
    { toolCallId: "1", status: "failed" },
    { toolCallId: "2", status: "failed" },
  ]);
  expect(updates.closeCalls("Over.")).toEqual([]);
});

test("an error without an action's id ends the newest call with its call id, which may come again", () => {
  const updates = new SessionUpdates("/work");
  const call = { tool_name: "glob", action: { kind: "GlobAction", pattern: "*.ts" } };
  for (const id of ["1", "2"]) updates.of(action({ id, ...call }));
  const failed = (error: string) =>
    updates.of(
      event({ kind: "AgentErrorEvent", id: error, tool_name: "glob", tool_call_id: "call-1", error }),
    );
  expect(failed("No.")).toMatchObject([{ toolCallId: "2", status: "failed" }]);
  expect(failed("No.")).toMatchObject([{ toolCallId: "1" }]);
  expect(failed("No.")).toEqual([]);
});

test("edits are shown before and after with absolute paths and the line that changes", () => {
  const updates = new SessionUpdates("/work");
  const edit = { kind: "EditAction", file_path: "src/a.ts", old_string: "b", new_string: "c" };
  const path = "/work/src/a.ts";
  expect(updates.of(action({ id: "1", tool_name: "edit", action: edit }))).toMatchObject([
    {
      kind: "edit",
      title: "edit: src/a.ts",
      content: [{ type: "diff", path, oldText: "b", newText: "c" }],
      locations: [{ path, line: 1 }],
    },
  ]);
  const observation = {
    kind: "EditObservation",
    file_path: "src/a.ts",
    old_content: "a\nb\n",
    new_content: "a\nc\n",
  };
  expect(updates.of(event({ kind: "ObservationEvent", id: "2", action_id: "1", observation }))).toEqual([
    {
      sessionUpdate: "tool_call_update",
      toolCallId: "1",
      status: "completed",
      content: [{ type: "diff", path, oldText: "a\nb\n", newText: "a\nc\n" }],
      locations: [{ path, line: 2 }],
    },
  ]);
});
