import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { OutputPace } from "./output-pace.ts";

let isHeld = false;
let pace: OutputPace;

beforeEach(() => {
  vi.useFakeTimers();
  isHeld = false;
  pace = new OutputPace({ pause: () => (isHeld = true), resume: () => (isHeld = false) });
});
afterEach(() => void vi.useRealTimers());

test("a command that printed too much is paused until a call waits for it again", () => {
  expect([pace.take(10, false), isHeld]).toEqual(["goes on", false]);
  expect([pace.take(10, true), isHeld, pace.isFlooding]).toEqual(["floods", true, true]);
  pace.attend(true);
  expect([isHeld, pace.isFlooding]).toEqual([false, false]);
});

test("a command without a waiting call is paused after each million characters", () => {
  pace.attend(false);
  expect([pace.take(999_999, false), isHeld]).toEqual(["goes on", false]);
  expect([pace.take(1, true), isHeld]).toEqual(["rests", true]);
  vi.advanceTimersByTime(250);
  expect(isHeld).toBe(false);
});

test("a new waiting call ends the pause, but not the wait for the disk", () => {
  pace.attend(false);
  pace.take(1_000_000, false);
  pace.wait(true);
  pace.attend(true);
  expect(isHeld).toBe(true);
  pace.wait(false);
  expect(isHeld).toBe(false);
});

test("a command that is being stopped is read to its end", () => {
  pace.take(10, true);
  pace.readOn();
  expect([pace.take(5_000_000, true), isHeld]).toEqual(["goes on", false]);
});
