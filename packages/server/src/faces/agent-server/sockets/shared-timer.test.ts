import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SharedTimer } from "./shared-timer.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("all items are checked by one timer, which is stopped while there are none", () => {
  const checked: string[] = [];
  const timer = new SharedTimer<string>(100, (item) => {
    checked.push(item);
    if (item === "a") timer.delete(item);
  });
  expect(vi.getTimerCount()).toBe(0);
  timer.add("a");
  timer.add("b");
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(200);
  expect(checked).toEqual(["a", "b", "b"]);
  timer.delete("b");
  expect(vi.getTimerCount()).toBe(0);
  timer.add("c");
  vi.advanceTimersByTime(100);
  expect(checked).toEqual(["a", "b", "b", "c"]);
  timer.delete("c");
});
