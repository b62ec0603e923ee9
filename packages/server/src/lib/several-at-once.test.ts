import { expect, test } from "vitest";
import { severalAtOnce } from "./several-at-once.ts";

test("each item once, in order, never more than the maximum at a time", async () => {
  const begun: number[] = [];
  let underWay = 0;
  let maxRunning = 0;
  await severalAtOnce(Array.from({ length: 20 }).keys(), 3, async (number) => {
    begun.push(number);
    underWay += 1;
    maxRunning = Math.max(maxRunning, underWay);
    for (let turns = 0; turns < number % 4; turns += 1) await Promise.resolve();
    underWay -= 1;
  });
  expect(begun).toEqual([...begun.keys()]);
  expect(begun).toHaveLength(20);
  expect(maxRunning).toBe(3);
});

test("after a failure no work is started, and running work is awaited", async () => {
  const ended: number[] = [];
  const working = severalAtOnce([1, 2, 3, 4], 2, async (number) => {
    if (number === 1) throw new Error("no");
    for (let turns = 0; turns < 10; turns += 1) await Promise.resolve();
    ended.push(number);
  });
  await expect(working).rejects.toThrow("no");
  expect(ended).toEqual([2]);
});
