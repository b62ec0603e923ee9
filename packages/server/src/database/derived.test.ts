import { expect, test } from "vitest";
import { derived } from "./derived.ts";

test("the value is made once for the same rows, and again for others", () => {
  let rows = [1, 2];
  const asked: (readonly number[])[] = [];
  const sum = derived({ now: () => rows }, (now) => {
    asked.push(now);
    return now.reduce((total, one) => total + one, 0);
  });
  expect([sum(), sum()]).toEqual([3, 3]);
  rows = [5];
  expect([sum(), sum()]).toEqual([5, 5]);
  expect(asked).toEqual([[1, 2], [5]]);
});
