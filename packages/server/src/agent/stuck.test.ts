import type { Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import type { ViewEvent } from "./history.ts";
import { isStuck } from "./stuck.ts";

type Item = Record<string, unknown>;

const view = (...items: readonly Item[]): ViewEvent[] =>
  items.map((event, index) => ({
    seq: index + 1,
    event: { id: `e${index}`, ...event } as unknown as Event,
    meta: {},
  }));

const user: Item = { kind: "MessageEvent", source: "user", llm_message: { role: "user" } };
const silent: Item = { kind: "MessageEvent", source: "agent", llm_message: { role: "assistant" } };
const nudge: Item = { kind: "MessageEvent", source: "environment", llm_message: { role: "user" } };

let calls = 0;

/** An action and its result; every id and thought is new, as with a real model. */
function step(command: string, result: string, isError = false): Item[] {
  const id = `call-${++calls}`;
  const action = {
    kind: "ActionEvent",
    thought: [{ type: "text", text: `thought ${calls}` }],
    action: { kind: "TerminalAction", command },
    tool_name: "terminal",
    tool_call_id: id,
    tool_call: { id, arguments: "{}" },
  };
  return [
    action,
    isError
      ? { kind: "AgentErrorEvent", tool_call_id: id, error: `${result} ${calls}` }
      : { kind: "ObservationEvent", tool_call_id: id, observation: { content: result } },
  ];
}

const times = (count: number, make: () => Item[]): Item[] => Array.from({ length: count }, make).flat();

test("the same call with the same result four times in a row, whatever the thoughts", () => {
  expect(isStuck(view(user, ...times(3, () => step("ls", "a"))), 1)).toBe(false);
  expect(isStuck(view(user, ...times(4, () => step("ls", "a"))), 1)).toBe(true);
});

test("a result that changes is progress", () => {
  expect(isStuck(view(user, ...times(6, () => step("poll", `output ${calls}`))), 1)).toBe(false);
});

test("the same call failing four times, whatever the error texts", () => {
  expect(isStuck(view(user, ...times(3, () => step("bad", "no", true))), 1)).toBe(false);
  expect(isStuck(view(user, ...times(4, () => step("bad", "no", true))), 1)).toBe(true);
});

test("three answers in a row that do nothing; nudges between them do not count", () => {
  expect(isStuck(view(user, silent, nudge, silent, nudge), 1)).toBe(false);
  expect(isStuck(view(user, silent, nudge, silent, nudge, silent, nudge), 1)).toBe(true);
});

test("two steps in turn, three times", () => {
  const pair = () => [...step("a", "1"), ...step("b", "2")];
  expect(isStuck(view(user, ...times(2, pair)), 1)).toBe(false);
  expect(isStuck(view(user, ...times(3, pair)), 1)).toBe(true);
});

test("a new user message or a new run gives a fresh start", () => {
  const repeated = times(4, () => step("ls", "a"));
  expect(isStuck(view(user, ...repeated, user, ...step("ls", "a")), 1)).toBe(false);
  expect(isStuck(view(user, ...repeated), repeated.length + 2)).toBe(false);
});
