import { expect, test } from "vitest";
import { BoundedCache } from "./bounded-cache.ts";

test("what was not used for longest goes when all together are too large", () => {
  const cache = new BoundedCache<string>(10, (value, key) => value.length + key.length);
  cache.set("a", "123");
  cache.set("b", "123");
  expect(cache.get("a")).toBe("123");
  cache.set("c", "1234");
  expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual(["123", undefined, "1234"]);
  cache.set("c", "1");
  cache.set("d", "1");
  expect([cache.get("a"), cache.get("c"), cache.get("d")]).toEqual(["123", "1", "1"]);
  cache.set("e", "a value larger than all");
  expect(["a", "c", "d", "e"].map((key) => cache.get(key))).toEqual(Array(4).fill(undefined));
});

test("a value counts once, also when it is replaced, and not after it was removed", () => {
  const cache = new BoundedCache<number>(2);
  for (const value of [1, 2, 3]) cache.set("a", value);
  cache.set("b", 4);
  expect([cache.get("a"), cache.get("b")]).toEqual([3, 4]);
  cache.delete("a");
  cache.delete("a");
  cache.set("c", 5);
  expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual([undefined, 4, 5]);
  cache.clear();
  cache.set("d", 6);
  expect([cache.get("b"), cache.get("d")]).toEqual([undefined, 6]);
});
