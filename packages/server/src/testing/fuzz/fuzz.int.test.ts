import { expect, test } from "vitest";
import { fuzz } from "./fuzz.ts";

/** As many as a busy machine answers in this time; `run.ts` sends as many as one likes. */
const budgetMs = 25_000;

test("P57: requests made from the served document, half of them wrong, never break the contract or the server", async () => {
  const { sent, operations, findings } = await fuzz({ count: 2_500, seed: 2026, budgetMs });
  console.log(`${sent} requests to ${operations} operations`);
  expect(findings).toEqual([]);
  expect(operations).toBeGreaterThan(150);
  expect(sent).toBeGreaterThanOrEqual(Math.min(operations, 150));
});
