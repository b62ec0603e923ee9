import { expect, test } from "vitest";
import { onceUnlessRejected } from "./once-unless-rejected.ts";

test("work is done once for all who ask, and again only after it failed", async () => {
  let runs = 0;
  const ask = onceUnlessRejected(async () => {
    runs += 1;
    if (runs === 1) throw new Error("away");
    return runs;
  });
  const both = await Promise.allSettled([ask(), ask()]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(runs).toBe(1);
  expect(await Promise.all([ask(), ask()])).toEqual([2, 2]);
  expect(await ask()).toBe(2);
});
