import type { Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import { foldAnswer, noAnswers, settleAnswers, type LiveAnswer, type LiveAnswers } from "./live-answer.ts";

type Frame = Readonly<Record<string, unknown>>;

const play = (...frames: Frame[]): LiveAnswers => ({
  ...noAnswers,
  answers: frames.reduce<readonly LiveAnswer[]>(foldAnswer, []),
});
const newest = (...frames: Frame[]): LiveAnswer | undefined => play(...frames).answers.at(-1);
const delta = (seq: number, text: string, item: Frame = { type: "text", index: 0 }) => ({
  kind: "AnswerDelta",
  answer_id: "a",
  seq,
  item,
  text,
});
const settled = (live: LiveAnswers, event: object): LiveAnswers =>
  settleAnswers(live, event as unknown as Event);

test("pieces make up text, reasoning and calls", () => {
  const call = { type: "tool_call", index: 1, name: "terminal" };
  expect(
    newest(
      delta(1, "Hm", { type: "reasoning", index: 0 }),
      delta(2, "Lo"),
      delta(3, "ok"),
      delta(4, '{"c', call),
      delta(5, '":1}', call),
    ),
  ).toMatchObject({
    items: [
      { type: "reasoning", text: "Hm" },
      { type: "text", text: "Look" },
      { type: "tool_call", index: 1, name: "terminal", text: '{"c":1}' },
    ],
    hasGap: false,
  });
});

test("a missing piece is noticed, and another attempt begins again", () => {
  expect(newest(delta(1, "a"), delta(3, "c"))).toMatchObject({ items: [{ text: "ac" }], hasGap: true });
  expect(newest(delta(1, "a"), { ...delta(1, "b"), answer_id: "b" })).toMatchObject({
    items: [{ text: "b" }],
    hasGap: false,
  });
});

test("a piece with reasoning and text adds to both", () => {
  const both = { kind: "StreamingDeltaEvent", reasoning_content: "Hm", content: "A" };
  expect(newest(both)?.items).toMatchObject([
    { type: "reasoning", text: "Hm" },
    { type: "text", text: "A" },
  ]);
});

test("a complete answer stays until its events are stored; one that failed goes at once", () => {
  const end = { kind: "AnswerEnd", answer_id: "a", seq: 2, outcome: "done", llm_response_id: "r" };
  const done = play(delta(1, "a"), end);
  expect(done.answers).toMatchObject([{ items: [{ text: "a" }], llmResponseId: "r" }]);
  expect(settled(done, { kind: "ConversationStateUpdateEvent", key: "stats", value: {} })).toBe(done);
  expect(settled(done, { kind: "MessageEvent", source: "user" })).toBe(done);
  expect(settled(done, { kind: "ActionEvent" }).answers).toEqual([]);
  expect(settled(done, { kind: "ActionEvent", llm_response_id: "r" })).toEqual({
    answers: [],
    lastResponseId: "r",
  });
  expect(play(delta(1, "a"), { ...end, outcome: "void" }).answers).toEqual([]);
});

test("the run's end ends all answers; another event of a response that is stored leaves the next answer", () => {
  const next = { ...play(delta(1, "a")), lastResponseId: "r" };
  expect(settled(next, { kind: "ActionEvent", llm_response_id: "r" })).toBe(next);
  const status = { kind: "ConversationStateUpdateEvent", key: "execution_status" };
  expect(settled(next, { ...status, value: "running" })).toBe(next);
  expect(settled(next, { ...status, value: "paused" }).answers).toEqual([]);
});
