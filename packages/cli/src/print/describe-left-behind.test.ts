import { expect, test } from "vitest";
import { describeLeftBehind } from "./describe-left-behind.ts";

const envrc = { path: "lib/.envrc", reason: "starts_by_itself", is_new: false } as const;

test("nothing is printed when nothing was left behind", () => {
  expect(describeLeftBehind({ files: [], count: 0, is_complete: true })).toBe("");
});

test("each file is named with what would run it, up to ten", () => {
  const hook = { path: "new/.git/hooks/pre-commit", reason: "repository", is_new: true } as const;
  expect(describeLeftBehind({ files: [envrc, hook], count: 2, is_complete: true })).toBe(
    [
      "The agent left 2 files that would run outside of the wall. Read before you open the folder:",
      "  lib/.envrc  changed: an editor, a shell or a tool obeys it",
      "  new/.git/hooks/pre-commit  new: git obeys it",
    ].join("\n"),
  );
  const many = describeLeftBehind({
    files: Array.from({ length: 12 }, () => envrc),
    count: 30,
    is_complete: false,
  });
  expect(many.split("\n").slice(-2)).toEqual([
    "  and 20 more",
    "  The folder is too large to be searched whole.",
  ]);
});
