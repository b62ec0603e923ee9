import { expect, test } from "vitest";
import { EarlyKeys } from "./early-keys.ts";

function pressed(...keys: readonly string[]) {
  const page = new EventTarget();
  const early = new EarlyKeys(page);
  const press = (key: string): unknown => page.dispatchEvent(Object.assign(new Event("keydown"), { key }));
  for (const key of keys) press(key);
  return { early, press, taken: () => early.take().map(({ key }) => key) };
}

test("of the keys that came too early the newest counts, and two that belong together", () => {
  expect(pressed().taken()).toEqual([]);
  expect(pressed("n", "t", "?").taken()).toEqual(["?"]);
  expect(pressed("n", "g", "Shift", "i").taken()).toEqual(["g", "i"]);
});

test("what was handed over does not come again, and what comes then is for others", () => {
  const { press, taken } = pressed("n");
  expect(taken()).toEqual(["n"]);
  press("t");
  expect(taken()).toEqual([]);
});
