import { expect, test } from "vitest";
import { mayReload } from "./may-reload.ts";

const untouched = { hasBeenUsed: false, texts: ["", ""], lastAtMs: undefined, nowMs: 1_000_000 };

test.each([
  ["a page that nobody touched", {}, true],
  ["one that somebody used", { hasBeenUsed: true }, false],
  ["one with a text in it", { texts: ["", "half a sentence"] }, false],
  ["one that did so a moment ago", { lastAtMs: 900_000 }, false],
  ["one that did so long ago", { lastAtMs: 300_000 }, true],
  ["one whose browser kept something else", { lastAtMs: "then" }, true],
] as const)("J30: %s reloads by itself for a new version: %j, %s", (_, change, expected) => {
  expect(mayReload({ ...untouched, ...change })).toBe(expected);
});
