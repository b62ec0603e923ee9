import { expect, test } from "vitest";
import { joinedItems, withoutTabs } from "./text-width.ts";

test("a tab is as wide as on a terminal, behind wide letters and colours too", () => {
  expect(withoutTabs("a\tb\t\tc")).toBe("a       b               c");
  expect(withoutTabs("日本\tx")).toBe("日本    x");
  expect(withoutTabs("\u001b[31mab\u001b[39m\tx")).toBe("\u001b[31mab\u001b[39m      x");
});

test("items stand beside each other as far as they fit", () => {
  expect(joinedItems(["one", "two", "three"], 20)).toEqual(["one   two   three"]);
  expect(joinedItems(["one", "two", "three"], 16)).toEqual(["one  two  three"]);
  expect(joinedItems(["one", "two", "three"], 10)).toEqual(["one  two", "three"]);
});
