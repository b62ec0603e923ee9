import { expect, test } from "vitest";
import { ArgumentChunks, receivedCalls } from "./received-calls.ts";

const whole = '{"command":"ls"}';

test.each([
  ["encoded twice", JSON.stringify(whole), whole],
  ["sent twice", whole + whole, whole],
  ["as received", ' { "a" : 1.0 } ', ' { "a" : 1.0 } '],
  ["broken", '{"a":', '{"a":'],
  ["a text", '"ls"', '"ls"'],
])("K4: arguments %s", (_, given, expected) => {
  const call = { id: "a", name: "one", arguments: given, origin: "completion" as const };
  expect(receivedCalls([call, { ...call, name: "" }, { ...call, name: " " }])).toEqual([
    { ...call, arguments: expected },
  ]);
});

test("K4: what looks like a repetition in the middle of arguments is a part of them", () => {
  const chunks = new ArgumentChunks();
  for (const chunk of ['{"a":', "{}", ',"b":', "{}", "}"]) chunks.add(chunk);
  expect(chunks.text).toBe('{"a":{},"b":{}}');
});
