import { expect, test } from "vitest";
import type { Loose } from "../lib/loose.ts";
import { withFrame, withStored, type LiveAnswer } from "./live-answer.ts";

const play = (...frames: Loose[]): LiveAnswer | null => frames.reduce<LiveAnswer | null>(withFrame, null);
const piece = (seq: number, text: string, item: Loose = { type: "text", index: 0 }) => ({
  kind: "AnswerDelta",
  answer_id: "a",
  seq,
  item,
  text,
});

test("pieces make up text, reasoning and calls", () => {
  const call = { type: "tool_call", index: 1, name: "terminal" };
  expect(
    play(
      piece(1, "Hm", { type: "reasoning", index: 0 }),
      piece(2, "Lo"),
      piece(3, "ok"),
      piece(4, '{"c', call),
      piece(5, '":1}', call),
    ),
  ).toMatchObject({
    text: "Look",
    reasoning: "Hm",
    calls: [{ index: 1, name: "terminal", argumentsText: '{"c":1}' }],
    hasGap: false,
  });
});

test("a missing piece is noticed, and another attempt begins anew", () => {
  expect(play(piece(1, "a"), piece(3, "c"))).toMatchObject({ text: "ac", hasGap: true });
  expect(play(piece(1, "a"), { ...piece(1, "b"), answer_id: "b" })).toMatchObject({
    text: "b",
    hasGap: false,
  });
});

test("a complete answer stays until its events are stored; one that failed goes at once", () => {
  const end = { kind: "AnswerEnd", answer_id: "a", seq: 2, outcome: "done", llm_response_id: "r" };
  const done = play(piece(1, "a"), end);
  expect(done).toMatchObject({ text: "a", responseId: "r" });
  expect(withStored(done, { kind: "ConversationStateUpdateEvent", key: "stats", value: {} })).toBe(done);
  expect(withStored(done, { kind: "MessageEvent", source: "user" })).toBe(done);
  expect(withStored(done, { kind: "ActionEvent" })).toBeNull();
  expect(play(piece(1, "a"), { ...end, outcome: "void" })).toBeNull();
});
