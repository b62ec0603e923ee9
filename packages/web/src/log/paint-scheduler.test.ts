import { beforeEach, expect, test, vi } from "vitest";
import { PaintScheduler } from "./paint-scheduler.ts";

let nowMs = 0;
let frames: (() => void)[] = [];
let paints = 0;
/** How long it takes to draw one. */
let frameMs = 0;
let times: PaintScheduler;

beforeEach(() => {
  vi.useFakeTimers();
  nowMs = 0;
  frames = [];
  paints = 0;
  frameMs = 0;
  times = new PaintScheduler({
    nextFrame: (callback) => void frames.push(callback),
    now: () => nowMs,
    paint: () => (paints += 1),
  });
  return () => vi.useRealTimers();
});

function pass(ms: number): void {
  advance(ms);
  for (const frame of frames.splice(0)) {
    frame();
    advance(frameMs);
  }
}

function advance(ms: number): void {
  nowMs += ms;
  vi.advanceTimersByTime(ms);
}

test("the first piece is drawn with the next frame, those after it ten times a second", () => {
  for (let ms = 0; ms < 1_000; ms += 20) {
    times.together();
    pass(20);
    if (ms === 0) expect(paints).toBe(1);
  }
  expect(paints).toBeGreaterThanOrEqual(8);
  expect(paints).toBeLessThanOrEqual(11);
});

test("an event does not wait, and draws the pieces with it", () => {
  times.soon();
  pass(16);
  times.together();
  times.soon();
  times.soon();
  pass(16);
  expect(paints).toBe(2);
  pass(1_000);
  expect(paints).toBe(2);
});

test("the last piece is drawn though nothing comes after it", () => {
  times.together();
  pass(16);
  times.together();
  pass(200);
  expect(paints).toBe(2);
});

test("what waits is not drawn after a stop", () => {
  times.together();
  pass(16);
  times.together();
  times.stop();
  pass(1_000);
  expect(paints).toBe(1);
});

test.each([
  [1, 10],
  [8, 5],
  [100, 3],
])("frames of %i ms are drawn at most %i times a second", (ms, perSecond) => {
  frameMs = ms;
  for (let deltas = 0; deltas < 500; deltas += 1) {
    times.together();
    pass(20);
  }
  const rate = paints / (nowMs / 1_000);
  expect(rate).toBeLessThanOrEqual(perSecond + 0.2);
  expect(rate).toBeGreaterThan(perSecond / 2);
});
