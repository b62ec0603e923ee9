import { expect, test } from "vitest";
import { isTypoOf } from "./is-typo-of.ts";

test("one wrong, missing, additional or swapped letter is a slip", () => {
  for (const given of ["treminal", "termnal", "terninal", "erminal", "termminal", "terminla"])
    expect([given, isTypoOf(given, "terminal")]).toEqual([given, true]);
});

test("other names, names that go on, and short names are no slips", () => {
  for (const [given, known] of [
    ["terminal", "terminal"],
    ["terminal2", "terminal"],
    ["browser_tool_set", "terminal"],
    ["edit", "terminal"],
    ["planning_file_editor", "file_editor"],
    ["get", "gre"],
    ["read_file", "file_editor"],
  ] as const)
    expect([given, isTypoOf(given, known)]).toEqual([given, false]);
});
