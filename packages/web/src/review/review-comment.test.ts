import { expect, test } from "vitest";
import { diffOf } from "@convoke/client/diff-lines";
import { linesBetween, linesOf, placeOf, reviewMessage, type ReviewComment } from "./review-comment.ts";

const linesOfChange = (before: string, after: string) => linesOf(diffOf({ before, after }));
const comment = (fields: Partial<ReviewComment>): ReviewComment => ({
  id: "1",
  path: "a.ts",
  side: "after",
  from: 2,
  to: 2,
  code: ["new"],
  text: "Why?",
  ...fields,
});

test("J16: a comment is about lines of one side", () => {
  const lines = linesOfChange("a\nold\nc\n", "a\nnew\nc\n");
  expect(lines.map(({ text }) => text)).toEqual(["a", "old", "new", "c"]);
  expect(linesBetween(lines, 0, 3)).toEqual({ side: "after", from: 1, to: 3, code: ["a", "new", "c"] });
  expect(linesBetween(lines, 3, 0)).toEqual({ side: "after", from: 1, to: 3, code: ["a", "new", "c"] });
  expect(linesBetween(lines, 1, 1)).toEqual({ side: "before", from: 2, to: 2, code: ["old"] });
});

test("J16: a comment moves with its lines, takes the nearest of equal ones, and says when they are gone", () => {
  expect(placeOf(comment({}), linesOfChange("a\nold\n", "a\nnew\n"))).toBe(2);
  expect(placeOf(comment({}), linesOfChange("a\nold\n", "x\ny\na\nnew\n"))).toBe(4);
  const twice = linesOfChange("", "new\nb\nnew\n");
  expect(placeOf(comment({ from: 3, to: 3 }), twice)).toBe(2);
  expect(placeOf(comment({ from: 1, to: 1 }), twice)).toBe(0);
  expect(placeOf(comment({}), linesOfChange("a\nold\n", "a\nother\n"))).toBeNull();
  expect(placeOf(comment({ side: "before", code: ["old"] }), linesOfChange("old\n", "x\n"))).toBe(0);
});

test("J16: a review is one message that says where each comment belongs", () => {
  const text = reviewMessage("", [
    comment({}),
    comment({ side: "before", from: 4, to: 5, code: ["a```b", ""], text: "Keep this.\nIt is used." }),
  ]);
  expect(text).toBe(
    [
      "Review of the changes:",
      "",
      "1. `a.ts`, line 2:",
      "   ```",
      "   new",
      "   ```",
      "",
      "   Why?",
      "",
      "2. `a.ts`, removed lines 4 to 5:",
      "   ````",
      "   a```b",
      "",
      "   ````",
      "",
      "   Keep this.",
      "   It is used.",
    ].join("\n"),
  );
  expect(reviewMessage("Nice.\n", [])).toBe("Nice.");
});
