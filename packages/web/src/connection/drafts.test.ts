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

test("pictures that would take the room of what is typed are not kept", () => {
  const drafts = new Drafts(emptyKeep());
  drafts.writeImages("a", ["small"]);
  drafts.writeImages("a", ["small", "x".repeat(1_500_001)]);
  expect(drafts.readImages("a")).toEqual([]);
});
