import { expect, test } from "vitest";
import { madeOnce } from "./made-once.ts";

test("a value is made once for each object", () => {
  const asked: object[] = [];
  const make = madeOnce((key: object) => {
    asked.push(key);
    return { key };
  });
  const [one, other] = [{}, {}];
  expect([one, one, other, one].map((key) => make(key).key)).toEqual([one, one, other, one]);
  expect(asked).toEqual([one, other]);
});
