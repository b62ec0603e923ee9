import { expect, test } from "vitest";
import { isBounded } from "./is-bounded.ts";

const bounds = { maxValues: 10, maxLevels: 3, maxChars: 20 };

test.each<[string, unknown, boolean]>([
  ["a text", "x", true],
  ["a long text", "x".repeat(21), false],
  ["a long name", { ["x".repeat(21)]: 1 }, false],
  ["as many values as there may be", [1, 2, 3, 4, 5, 6, 7, 8, 9], true],
  ["one more", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], false],
  ["as many levels as there may be", [[[1]]], true],
  ["one level more", [[[[1]]]], false],
  ["a hundred thousand levels", JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`), false],
])("security 2: %s", (_, value, expected) => {
  expect(isBounded(value, bounds)).toBe(expected);
});
