import { expect, test } from "vitest";
import { markAt, nextMark } from "./scrubber-marks.tsx";

const landmarks = { length: 9, turns: [2, 7], errors: [5, 7], rejected: [4], condensations: [] };

test("from each position the next mark is found in both directions", () => {
  const walk = (from: number, isForward: boolean): number[] => {
    const places: number[] = [];
    for (let at = nextMark(landmarks, from, isForward); at !== null; at = nextMark(landmarks, at, isForward))
      places.push(at);
    return places;
  };
  expect(walk(1, true)).toEqual([2, 4, 5, 7]);
  expect(walk(9, false)).toEqual([7, 5, 4, 2]);
  expect(nextMark(null, 1, true)).toBeNull();
});

test("a position is named by what matters most there", () => {
  expect([1, 2, 4, 7].map((at) => markAt(landmarks, at))).toEqual([null, "turns", "rejected", "errors"]);
  expect(markAt(null, 2)).toBeNull();
});
