import { expect, test } from "vitest";
import { headerProblem } from "./header-problem.ts";

test.each([
  ["x-key", "sk-plain 123~", null],
  ["x-key", "  sk-trimmed\r\n", null],
  ["x-key", "déjà\tvu", null],
  ["x-key", "sk-abc\u2019def", "has the character U+2019 at position 7, which no header can carry"],
  ["x-key", "😀", "has the character U+1F600 at position 1, which no header can carry"],
  ["x-key", "a\nb", "has the control character U+000A at position 2, which no header can carry"],
  ["x-key", "a\u0000", "has the control character U+0000 at position 2, which no header can carry"],
  ["x-key", "a\u007fb", "has the control character U+007F at position 2, which no header can carry"],
  ["x key", "a", "has a name that no header can have"],
  ["", "a", "has a name that no header can have"],
])("K20: %s with %j: %s", (name, value, problem) => {
  expect(headerProblem(name, value)).toBe(problem);
  const isSendable = (): boolean => new Headers({ [name]: value }) instanceof Headers;
  if (problem === null) expect(isSendable()).toBe(true);
});
