import { expect, test } from "vitest";
import { diffOf } from "./diff-lines.ts";

test("lines are numbered on both sides and counted", () => {
  const change = { before: "a\nb\nc\n", after: "a\nB\nc\nd\n" };
  const diff = diffOf(change);
  expect(diff).toMatchObject({ added: 2, removed: 1 });
  expect(diff.hunks[0]?.lines.map(({ type, before, after, text }) => [type, before, after, text])).toEqual([
    ["same", 1, 1, "a"],
    ["removed", 2, null, "b"],
    ["added", null, 2, "B"],
    ["same", 3, 3, "c"],
    ["added", null, 4, "d"],
  ]);
  expect(diffOf(change)).toBe(diff);
});

test("a patch of the server is read as one of ours", () => {
  const patch = "--- a\n+++ a\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n\\ No newline at end of file\n";
  expect(diffOf({ patch })).toMatchObject({ added: 1, removed: 1 });
});

test("texts that are too long are not compared", () => {
  expect(diffOf({ before: "", after: "x".repeat(3_000_000) })).toEqual({ hunks: [], added: 0, removed: 0 });
});
