import { expect, test } from "vitest";
import { KnownHolders } from "./known-holders.ts";

test("a holder is known for two seconds, or until it is forgotten", () => {
  let nowMs = 0;
  const holders = new KnownHolders(() => nowMs);
  expect(holders.find("c")).toBeNull();
  holders.note("c", "one");
  nowMs = 1_999;
  expect(holders.find("c")).toBe("one");
  holders.note("c", "two");
  nowMs = 3_998;
  expect(holders.find("c")).toBe("two");
  nowMs = 3_999;
  expect(holders.find("c")).toBeNull();
  holders.note("c", "one");
  holders.forget("c");
  expect(holders.find("c")).toBeNull();
});

test("the thousand that were found last are known", () => {
  const holders = new KnownHolders(() => 0);
  for (let number = 0; number < 1_001; number += 1) holders.note(`${number}`, "one");
  expect(holders.find("0")).toBeNull();
  expect(holders.find("1")).toBe("one");
  expect(holders.find("1000")).toBe("one");
});
