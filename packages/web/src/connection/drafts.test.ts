import { expect, test } from "vitest";
import { Keep } from "../lib/keep.ts";
import { Drafts } from "./drafts.ts";

function emptyKeep(): Keep {
  const kept = new Map<string, string>();
  return new Keep({
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  });
}

test("text and pictures are kept for each place until they are taken away", () => {
  const keep = emptyKeep();
  const drafts = new Drafts(keep);
  drafts.write("a", "half a thought");
  drafts.writeImages("a", ["data:image/png;base64,AA=="]);
  expect(drafts.read("a")).toBe("half a thought");
  expect(new Drafts(keep).readImages("a")).toEqual(["data:image/png;base64,AA=="]);
  expect(drafts.readImages("b")).toEqual([]);
  drafts.writeImages("a", []);
  expect(drafts.readImages("a")).toEqual([]);
});

test("of the pictures of all places the newest are kept, and never so many that what is typed has no room", () => {
  const drafts = new Drafts(emptyKeep());
  for (const place of ["a", "b", "c"]) drafts.writeImages(place, ["x".repeat(700_000)]);
  expect(["a", "b", "c"].map((place) => drafts.readImages(place).length)).toEqual([0, 1, 1]);
  drafts.writeImages("c", ["x".repeat(1_500_001)]);
  expect(["a", "b", "c"].map((place) => drafts.readImages(place).length)).toEqual([0, 0, 0]);
});

test("pictures that the browser does not keep leave no older ones in their place", () => {
  const kept = new Map<string, string>();
  let isFull = false;
  const drafts = new Drafts(
    new Keep({
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => {
        if (isFull) throw new Error("full");
        kept.set(key, value);
      },
      removeItem: (key) => void kept.delete(key),
    }),
  );
  drafts.writeImages("a", ["older"]);
  isFull = true;
  drafts.writeImages("a", ["older", "newer"]);
  expect(drafts.readImages("a")).toEqual([]);
});
