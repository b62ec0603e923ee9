import { expect, test } from "vitest";
import { matchingEntries, type PaletteEntry } from "./palette-entries.ts";

const entry = (name: string, kind = "Conversation"): PaletteEntry => ({
  href: `/${name}`,
  name,
  kind,
  conversationId: null,
});
const entries = [entry("Repair the note"), entry("Note it"), entry("Models", "Settings")];
const found = (query: string): string[] => matchingEntries(entries, query).map(({ name }) => name);

test("every word is looked for in names and kinds, and what begins with the query comes first", () => {
  expect(found("")).toEqual(["Repair the note", "Note it", "Models"]);
  expect(found("note")).toEqual(["Note it", "Repair the note"]);
  expect(found("set mod")).toEqual(["Models"]);
  expect(found("nothing")).toEqual([]);
});

test("no more are shown than can be looked over", () => {
  expect(
    matchingEntries(
      Array.from({ length: 40 }, (_, at) => entry(`n${at}`)),
      "n",
    ),
  ).toHaveLength(12);
});
