import { expect, test } from "vitest";
import { BrowserStorage } from "../lib/browser-storage.ts";
import { Drafts } from "./drafts.ts";

function emptyStorage(): BrowserStorage {
  const stored = new Map<string, string>();
  return new BrowserStorage({
    getItem: (key) => stored.get(key) ?? null,
    setItem: (key, value) => void stored.set(key, value),
    removeItem: (key) => void stored.delete(key),
  });
}

test("text and images are stored per conversation until they are removed", () => {
  const storage = emptyStorage();
  const drafts = new Drafts(storage);
  drafts.write("a", "half a thought");
  drafts.writeImages("a", ["data:image/png;base64,AA=="]);
  expect(drafts.read("a")).toBe("half a thought");
  expect(new Drafts(storage).readImages("a")).toEqual(["data:image/png;base64,AA=="]);
  expect(drafts.readImages("b")).toEqual([]);
  drafts.writeImages("a", []);
  expect(drafts.readImages("a")).toEqual([]);
});

test("of the images of all drafts the newest are stored, within a limit that leaves room for text", () => {
  const drafts = new Drafts(emptyStorage());
  for (const place of ["a", "b", "c"]) drafts.writeImages(place, ["x".repeat(700_000)]);
  expect(["a", "b", "c"].map((place) => drafts.readImages(place).length)).toEqual([0, 1, 1]);
  drafts.writeImages("c", ["x".repeat(1_500_001)]);
  expect(["a", "b", "c"].map((place) => drafts.readImages(place).length)).toEqual([0, 0, 0]);
});

test("images that the browser refuses to store also remove older ones", () => {
  const stored = new Map<string, string>();
  let isFull = false;
  const drafts = new Drafts(
    new BrowserStorage({
      getItem: (key) => stored.get(key) ?? null,
      setItem: (key, value) => {
        if (isFull) throw new Error("full");
        stored.set(key, value);
      },
      removeItem: (key) => void stored.delete(key),
    }),
  );
  drafts.writeImages("a", ["older"]);
  isFull = true;
  drafts.writeImages("a", ["older", "newer"]);
  expect(drafts.readImages("a")).toEqual([]);
});
