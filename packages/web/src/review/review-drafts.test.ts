import { expect, test } from "vitest";
import { Keep } from "../lib/keep.ts";
import { ReviewDrafts } from "./review-drafts.ts";

function openKeep(): Keep {
  const values = new Map<string, string>();
  return new Keep({
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
  });
}

const comment = { id: "1", path: "a", side: "after", from: 1, to: 1, code: ["x"], text: "Why?" } as const;

test("J16, U16: a review that was not sent is there again, each in its conversation", () => {
  const keep = openKeep();
  const drafts = new ReviewDrafts(keep, "one");
  drafts.write({ ...comment, text: "" });
  drafts.write(comment);
  drafts.summarize("All in all");
  drafts.accept("a", "digest");
  const again = new ReviewDrafts(keep, "one");
  expect(again.snapshot()).toEqual({
    summary: "All in all",
    comments: [comment],
    accepted: { a: "digest" },
  });
  expect(new ReviewDrafts(keep, "two").snapshot().comments).toEqual([]);
  again.clear();
  again.accept("a", null);
  expect(keep.read("review.one")).toBeUndefined();
});

test("what cannot be read of an earlier version is left out", () => {
  const keep = openKeep();
  keep.write("review.one", { comments: [7, { path: "b" }], accepted: { a: 1, b: "ok" } });
  expect(new ReviewDrafts(keep, "one").snapshot()).toEqual({
    summary: "",
    comments: [],
    accepted: { b: "ok" },
  });
});
