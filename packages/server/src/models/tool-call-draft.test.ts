import { describe, expect, test } from "vitest";
import { ToolCallDrafts, type ToolCallDelta } from "./tool-call-draft.ts";

function finish(deltas: readonly ToolCallDelta[]) {
  const drafts = new ToolCallDrafts();
  for (const delta of deltas) drafts.add(delta);
  return drafts.finish().calls;
}

const two = [
  { id: "A", name: "one", arguments: '{"a":1}', origin: "completion" },
  { id: "B", name: "two", arguments: '{"b":2}', origin: "completion" },
];

describe("tool call deltas", () => {
  test.each<[string, ToolCallDelta[]]>([
    [
      "as OpenAI sends them",
      [
        { index: 0, id: "A", function: { name: "one", arguments: "" } },
        { index: 0, function: { arguments: '{"a"' } },
        { index: 0, function: { arguments: ":1}" } },
        { index: 1, id: "B", function: { name: "two", arguments: "" } },
        { index: 1, function: { arguments: '{"b":2}' } },
      ],
    ],
    [
      "interleaved",
      [
        { index: 1, id: "A", function: { name: "one", arguments: '{"a"' } },
        { index: 0, id: "B", function: { name: "two", arguments: '{"b"' } },
        { index: 1, function: { arguments: ":1}" } },
        { index: 0, function: { arguments: ":2}" } },
      ],
    ],
    [
      "with id and name repeated in every piece",
      [
        { index: 0, id: "A", function: { name: "one", arguments: '{"a"' } },
        { index: 0, id: "A", function: { name: "one", arguments: ":1}" } },
        { index: 1, id: "B", function: { name: "two", arguments: '{"b"' } },
        { index: 1, id: "B", function: { name: "two", arguments: ":2}" } },
      ],
    ],
    [
      "with a new id for every piece",
      [
        { index: 0, id: "A", function: { name: "one", arguments: '{"a"' } },
        { index: 0, id: "A2", function: { arguments: ":1}" } },
        { index: 1, id: "B", function: { name: "two", arguments: '{"b"' } },
        { index: 1, id: "B2", function: { name: "", arguments: ":2}" } },
      ],
    ],
    [
      "whole, all numbered 0",
      [
        { index: 0, id: "A", function: { name: "one", arguments: '{"a":1}' } },
        { index: 0, id: "B", function: { name: "two", arguments: '{"b":2}' } },
      ],
    ],
    [
      "without index, id once",
      [
        { id: "A", function: { name: "one", arguments: "" } },
        { function: { arguments: '{"a":1}' } },
        { id: "B", function: { name: "two" } },
        { id: null, function: { name: null, arguments: '{"b":2}' } },
      ],
    ],
    [
      "without index, id in every piece",
      [
        { id: "A", function: { name: "one", arguments: '{"a"' } },
        { id: "B", function: { name: "two", arguments: '{"b"' } },
        { id: "A", function: { arguments: ":1}" } },
        { id: "B", function: { arguments: ":2}" } },
      ],
    ],
    [
      "with arguments as objects",
      [
        { index: 0, id: "A", function: { name: "one", arguments: { a: 1 } } },
        { index: 1, id: "B", function: { name: "two", arguments: { b: 2 } } },
      ],
    ],
  ])("%s", (_, deltas) => {
    expect(finish(deltas)).toEqual(two);
  });

  test("L23.25: missing and repeated ids become unique ones", () => {
    const calls = finish([
      { index: 0, function: { name: "one", arguments: "{}" } },
      { index: 1, id: "X", function: { name: "two", arguments: "{}" } },
      { index: 2, id: "X", function: { name: "three", arguments: "" } },
    ]);
    expect(new Set(calls.map((call) => call.id)).size).toBe(3);
    expect(calls.map((call) => [call.name, call.arguments])).toEqual([
      ["one", "{}"],
      ["two", "{}"],
      ["three", "{}"],
    ]);
    expect(calls[1]?.id).toBe("X");
  });

  const whole = '{"command":"ls"}';
  const one = [{ id: "A", name: "one", arguments: whole, origin: "completion" }];
  test.each<[string, ToolCallDelta[]]>([
    [
      "a piece without id and name under a new index",
      [
        { index: 0, id: "A", function: { name: "one", arguments: '{"comman' } },
        { index: 1, function: { arguments: 'd":"ls"}' } },
      ],
    ],
    [
      "several of them, one index after the other",
      [
        { index: 0, id: "A", function: { name: "one", arguments: "{" } },
        { index: 1, id: "", function: { name: "", arguments: '"command"' } },
        { index: 2, id: null, function: { name: null, arguments: ':"ls"}' } },
      ],
    ],
    [
      "the whole once more, plain",
      [
        { index: 0, id: "A", function: { name: "one", arguments: '{"command"' } },
        { index: 0, function: { arguments: ':"ls"}' } },
        { index: 0, function: { arguments: whole } },
      ],
    ],
    [
      "the whole once more, with other blanks, id and name",
      [
        { index: 0, id: "A", function: { name: "one", arguments: whole } },
        { index: 0, id: "A", function: { name: "one", arguments: '{ "command": "ls" }' } },
      ],
    ],
    [
      "the whole once more, encoded twice",
      [
        { index: 0, id: "A", function: { name: "one", arguments: whole } },
        { index: 0, function: { arguments: JSON.stringify(whole) } },
      ],
    ],
    [
      "the whole once more, as an object under another index",
      [
        { index: 0, id: "A", function: { name: "one", arguments: whole } },
        { index: 1, id: "A", function: { name: "one", arguments: { command: "ls" } } },
      ],
    ],
    [
      "a call without a name",
      [
        { index: 0, id: "A", function: { name: "one", arguments: whole } },
        { index: 1, id: "B", function: { arguments: "{}" } },
      ],
    ],
  ])("K4: %s is no second call", (_, deltas) => {
    expect(finish(deltas)).toEqual(one);
  });

  test("K4: two calls of the same are two", () => {
    const same = { function: { name: "one", arguments: whole } };
    expect(
      finish([
        { index: 0, id: "A", ...same },
        { index: 1, id: "B", ...same },
      ]),
    ).toHaveLength(2);
  });
});
