import type { Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import type { ViewEvent } from "./history-view.ts";
import { circlingHint, findCircling } from "./stuck.ts";

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
  expect(findCircling(view(user, ...times(3, () => step("ls", "a"))), 1)).toBe("no");
  expect(findCircling(view(user, ...times(4, () => step("ls", "a"))), 1)).toBe("hint");
});

test("a result that changes is progress", () => {
  expect(findCircling(view(user, ...times(6, () => step("poll", `output ${calls}`))), 1)).toBe("no");
});

test("the same call failing four times, whatever the error texts", () => {
  expect(findCircling(view(user, ...times(3, () => step("bad", "no", true))), 1)).toBe("no");
  expect(findCircling(view(user, ...times(4, () => step("bad", "no", true))), 1)).toBe("hint");
});

test("three answers in a row that do nothing; nudges between them do not count", () => {
  expect(findCircling(view(user, silent, nudge, silent, nudge), 1)).toBe("no");
  expect(findCircling(view(user, silent, nudge, silent, nudge, silent, nudge), 1)).toBe("hint");
});

test("two steps in turn, three times", () => {
  const pair = () => [...step("a", "1"), ...step("b", "2")];
  expect(findCircling(view(user, ...times(2, pair)), 1)).toBe("no");
  expect(findCircling(view(user, ...times(3, pair)), 1)).toBe("hint");
});

test("a new user message or a new run gives a fresh start", () => {
  const repeated = times(4, () => step("ls", "a"));
  expect(findCircling(view(user, ...repeated, user, ...step("ls", "a")), 1)).toBe("no");
  expect(findCircling(view(user, ...repeated), repeated.length + 2)).toBe("no");
});

const hint: Item = {
  kind: "MessageEvent",
  source: "environment",
  llm_message: { role: "user", content: [{ type: "text", text: circlingHint }] },
};

test("L23.29: first the model gets a hint, and a run that still repeats itself is stopped; a different step continues", () => {
  const repeated = times(4, () => step("ls", "a"));
  const after = (...items: readonly Item[]): string =>
    findCircling(view(user, ...repeated, hint, ...items), 1);
  expect(after()).toBe("no");
  expect(after(...step("ls", "a"))).toBe("no");
  expect(after(...step("ls", "a"), ...step("ls", "a"))).toBe("stuck");
  expect(after(...step("cat x", "b"), ...step("ls", "a"))).toBe("no");
});

test("L23.29: cycles of three to six different steps are seen", () => {
  for (const length of [3, 4, 5, 6]) {
    const round = () => Array.from({ length }, (_, index) => step(`c${index}`, `r${index}`)).flat();
    expect(findCircling(view(user, ...times(2, round)), 1)).toBe("no");
    expect(findCircling(view(user, ...times(3, round)), 1)).toBe("hint");
  }
});

test("L23.29: arguments in another order are the same call, other wrong arguments are not", () => {
  const bad = (text: string): Item[] => {
    const id = `bad-${++calls}`;
    return [
      { kind: "ActionEvent", tool_name: "x", tool_call_id: id, tool_call: { id, arguments: text } },
      { kind: "AgentErrorEvent", tool_call_id: id, error: "no" },
    ];
  };
  const orders = ['{"a":1,"b":2}', '{"b":2,"a":1}', '{"a":1,"b":2}', '{ "b": 2, "a": 1 }'];
  expect(findCircling(view(user, ...orders.flatMap(bad)), 1)).toBe("hint");
  expect(findCircling(view(user, ...[1, 2, 3, 4].flatMap((n) => bad(`{"a":${n}}`))), 1)).toBe("no");
});
