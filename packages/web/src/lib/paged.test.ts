import { expect, test } from "vitest";
import { withPage } from "./paged.ts";

const first = { items: [1, 2], nextPageId: "second" };
const second = { items: [3], nextPageId: null };
const whole = { items: [1, 2, 3], nextPageId: null };

test("a page is added once, however often it was requested", () => {
  expect(withPage(first, "second", second)).toEqual(whole);
  expect(withPage(whole, "second", second)).toBe(whole);
});

test("a page of a list that was reloaded is not added", () => {
  const reloaded = { items: [0, 1], nextPageId: "another second" };
  expect(withPage(reloaded, "second", second)).toBe(reloaded);
  expect(withPage(null, "second", second)).toBeNull();
});
