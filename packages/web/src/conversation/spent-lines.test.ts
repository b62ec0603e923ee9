import { expect, test } from "vitest";
import { linesOf, spentAt } from "./spent-lines.ts";

const spent = [
  { position: 2, cost: 1, context: 0.25 },
  { position: 4, cost: 2, context: null },
  { position: 6, cost: 4, context: 1.5 },
];

test("what had been spent at a position is what the newest place before it says", () => {
  expect([1, 2, 3, 4, 9].map((position) => spentAt(spent, position)?.cost)).toEqual([undefined, 1, 1, 2, 4]);
  expect(spentAt([], 1)).toBeNull();
});

test("the strip's cost grows to its whole height in steps, and its context is cut where it is not known", () => {
  expect(linesOf(spent, 8)).toEqual({
    cost: "M0 1H1V0.75H3V0.5H5V0H7V1Z",
    context: "M1 0.75H3M5 0H7",
  });
});

test("of a long log the strip has no more places than a screen has pixels, the newest among them", () => {
  const many = Array.from({ length: 100_000 }, (_, index) => ({
    position: index + 1,
    cost: index,
    context: 0.5,
  }));
  const { cost } = linesOf(many, many.length);
  expect(cost.split("H").length).toBeLessThan(650);
  expect(cost).toMatch(/H99999V0H99999V1Z$/);
});
