import { expect, test } from "vitest";
import { nextUuid7, normalizeUuid } from "./uuid7.ts";

test("P41: 1,000,000 ids in one millisecond are unique and their text order is their order", () => {
  let previous = nextUuid7(null, 1_769_860_800_000);
  let isOrdered = true;
  for (let index = 1; index < 1_000_000; index++) {
    const next = nextUuid7(previous, 1_769_860_800_000);
    if (!(next > previous)) isOrdered = false;
    previous = next;
  }
  expect(isOrdered).toBe(true);
});

test("P41: a clock that goes back does not take the ids back", () => {
  const first = nextUuid7(null, 2_000_000_000_000);
  const second = nextUuid7(first, 1_000_000_000_000);
  expect(second > first).toBe(true);
});

test("ids are version 7, variant 10, and begin with the milliseconds", () => {
  const id = nextUuid7(null, 0x0123_4567_89ab);
  expect(id).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("a counter at its end moves to the next millisecond", () => {
  expect(nextUuid7("01234567-89ab-7fff-bfff-ffffffffffff", 0x0123_4567_89ab)).toBe(
    "01234567-89ac-7000-8000-000000000000",
  );
});

test.each([
  ["0123456789AB7FFFBFFFFFFFFFFFFFFF", "01234567-89ab-7fff-bfff-ffffffffffff"],
  ["01234567-89ab-7fff-bfff-ffffffffffff", "01234567-89ab-7fff-bfff-ffffffffffff"],
  ["0123-456789AB7FFFBFFFFFFFFFFFFFFF", null],
  ["../etc/passwd", null],
  ["", null],
])("normalizeUuid(%j) is %j", (text, expected) => {
  expect(normalizeUuid(text)).toBe(expected);
});
