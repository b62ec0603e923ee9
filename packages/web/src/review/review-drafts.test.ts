import { expect, test } from "vitest";
import { BrowserStorage } from "../lib/browser-storage.ts";
import { ReviewDrafts } from "./review-drafts.ts";

function openStorage(): BrowserStorage {
  const values = new Map<string, string>();
  return new BrowserStorage({
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
  });
}

const comment = { id: "1", path: "a", side: "after", from: 1, to: 1, code: ["x"], text: "Why?" } as const;

test("J16, U16: a review that was not sent is there again, each in its conversation", () => {
  const storage = openStorage();
  const drafts = new ReviewDrafts(storage, "one");
  drafts.write({ ...comment, text: "" });
  drafts.write(comment);
  drafts.summarize("All in all");
  drafts.accept("a", "digest");
  const again = new ReviewDrafts(storage, "one");
  expect(again.snapshot()).toEqual({
    summary: "All in all",
    comments: [comment],
    accepted: { a: "digest" },
  });
  expect(new ReviewDrafts(storage, "two").snapshot().comments).toEqual([]);
  again.clear();
  again.accept("a", null);
  expect(storage.read("review.one")).toBeUndefined();
});

test("what cannot be read of an earlier version is left out", () => {
  const storage = openStorage();
  storage.write("review.one", { comments: [7, { path: "b" }], accepted: { a: 1, b: "ok" } });
  expect(new ReviewDrafts(storage, "one").snapshot()).toEqual({
    summary: "",
    comments: [],
    accepted: { b: "ok" },
  });
});
