import { expect, test } from "vitest";
import { createProcessGroup } from "../testing/memory-nodes.ts";
import { WrongAttempts } from "./wrong-attempts.ts";

test("after five different wrong attempts within a minute an address waits, and only that one", () => {
  let nowMs = 0;
  const attempts = new WrongAttempts(() => nowMs);
  for (let count = 0; count < 5; count++) {
    expect(attempts.waitMs("10.0.0.1")).toBe(0);
    for (const _time of [1, 2]) attempts.note("10.0.0.1", `key ${count}`);
    nowMs += 1_000;
  }
  expect(attempts.waitMs("10.0.0.1")).toBe(55_000);
  expect(attempts.isLimiting).toBe(true);
  expect(attempts.waitMs("10.0.0.2")).toBe(0);
  nowMs += 55_000;
  expect(attempts.waitMs("10.0.0.1")).toBe(0);
  nowMs += 5_000;
  expect(attempts.isLimiting).toBe(false);
});

test("attempts from many addresses do not fill the memory", () => {
  const attempts = new WrongAttempts(() => 0);
  for (let count = 0; count < 5; count++) attempts.note("first", `key ${count}`);
  for (let count = 0; count < 10_000; count++) attempts.note(`other ${count}`, "key");
  expect(attempts.waitMs("first")).toBe(0);
  expect(attempts.waitMs("other 9999")).toBe(0);
});

test("processes behind one port count together: another process gives no further attempts", () => {
  const [one, other] = createProcessGroup(2).map((second) => new WrongAttempts(() => 0, second));
  for (const [index, counts] of [one!, other!, one!, other!].entries())
    counts.note("10.0.0.9", `key ${index}`);
  expect([one!.waitMs("10.0.0.9"), other!.waitMs("10.0.0.9")]).toEqual([0, 0]);
  one!.note("10.0.0.9", "key 4");
  expect([one!.waitMs("10.0.0.9"), other!.waitMs("10.0.0.9")]).toEqual([60_000, 60_000]);
  expect(other!.waitMs("10.0.0.8")).toBe(0);
});
