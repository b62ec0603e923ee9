import { expect, test } from "vitest";
import { BrowserNotes } from "./browser-notes.ts";

test("endless dialogs of a page fill neither the memory nor the answer", () => {
  const notes = new BrowserNotes();
  for (let number = 0; number < 1_000; number += 1) notes.add(`dialog ${number}`);
  const taken = notes.take();
  expect(taken).toHaveLength(21);
  expect(taken[0]).toBe("dialog 0");
  expect(taken.at(-1)).toBe("980 more notes were left out.");
  expect(notes.take()).toEqual([]);
});

test("a repeated note is reported once, a dropped one never", () => {
  const notes = new BrowserNotes();
  notes.addOnce("refused");
  notes.addOnce("refused");
  notes.add("A new tab opened");
  notes.drop(/A new tab/);
  expect(notes.take()).toEqual(["refused"]);
});
