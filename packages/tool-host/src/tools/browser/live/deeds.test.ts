import { expect, test } from "vitest";
import { Deeds } from "./deeds.ts";

test("deeds are short: repeated ones are counted, typing is a number, addresses have no query", () => {
  const deeds = new Deeds();
  expect(String(deeds)).toBe("");
  deeds.arrived("https://me:word@example.com/a/b?token=hidden#part");
  deeds.typed('field "Name"', 3);
  deeds.typed('field "Name"', 1);
  deeds.typed("a password field", 1);
  deeds.pressed("Enter");
  deeds.pressed("Enter");
  deeds.arrived("data:text/html,hidden");
  expect(String(deeds)).toBe(
    'came to https://example.com/a/b; typed 4 characters into field "Name"; typed 1 character into a password field; ' +
      "pressed Enter (2 times); came to data:text/html",
  );
});

test("of very many deeds the first ones are reported, with the total number", () => {
  const deeds = new Deeds();
  for (let count = 0; count < 10_000; count++) deeds.clicked(`button "${count}"`);
  expect(String(deeds)).toContain("and 9960 more");
  expect(String(deeds).length).toBeLessThan(5_000);
});
