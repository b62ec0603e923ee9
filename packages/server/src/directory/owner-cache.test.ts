import { expect, test } from "vitest";
import { OwnerCache } from "./owner-cache.ts";

test("an owner is cached for two seconds, or until it is deleted", () => {
  let nowMs = 0;
  const owners = new OwnerCache(() => nowMs);
  expect(owners.get("c")).toBeNull();
  owners.set("c", "one");
  nowMs = 1_999;
  expect(owners.get("c")).toBe("one");
  owners.set("c", "two");
  nowMs = 3_998;
  expect(owners.get("c")).toBe("two");
  nowMs = 3_999;
  expect(owners.get("c")).toBeNull();
  owners.set("c", "one");
  owners.delete("c");
  expect(owners.get("c")).toBeNull();
});

test("the cache keeps the thousand newest entries", () => {
  const owners = new OwnerCache(() => 0);
  for (let number = 0; number < 1_001; number += 1) owners.set(`${number}`, "one");
  expect(owners.get("0")).toBeNull();
  expect(owners.get("1")).toBe("one");
  expect(owners.get("1000")).toBe("one");
});
