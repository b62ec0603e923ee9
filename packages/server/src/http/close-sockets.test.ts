import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { closeSockets, closingWaitMs } from "./close-sockets.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function openMany(count: number) {
  let [closed, ended] = [0, 0];
  const sockets = Array.from({ length: count }, () => ({
    close: () => void (closed += 1),
    terminate: () => void (ended += 1),
    once: () => {},
  }));
  return { sockets: new Set(sockets) as never, closedCount: () => closed, cut: () => ended };
}

test("a few sockets are closed at once, and cut when their clients do not answer", () => {
  const few = openMany(1);
  closeSockets(few.sockets);
  expect([few.closedCount(), few.cut()]).toEqual([1, 0]);
  vi.advanceTimersByTime(500);
  expect(few.cut()).toBe(1);
});

test("thousands are closed one after another, within two seconds", () => {
  const some = openMany(30);
  closeSockets(some.sockets);
  expect(some.closedCount()).toBe(1);
  vi.advanceTimersByTime(15);
  expect(some.closedCount()).toBe(16);
  vi.advanceTimersByTime(15);
  expect(some.closedCount()).toBe(30);
  expect([0, 2_500, 4_999].map((index) => closingWaitMs(index, 5_000))).toEqual([0, 1000, 1999]);
});
