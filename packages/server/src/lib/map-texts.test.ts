import { expect, test } from "vitest";
import { mapTexts } from "./map-texts.ts";

test("changes texts at any depth, and neither names nor other values", () => {
  const given = { text: "a", list: ["b", 1, null, { inner: "c" }], flag: true };
  expect(mapTexts(given, (text) => text.toUpperCase())).toEqual({
    text: "A",
    list: ["B", 1, null, { inner: "C" }],
    flag: true,
  });
});
