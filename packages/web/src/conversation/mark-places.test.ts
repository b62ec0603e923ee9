import { expect, test } from "vitest";
import { markAt, nextMark } from "./mark-places.ts";

const landmarks = {
  length: 9,
  turns: [2, 7],
  errors: [5, 7],
  rejected: [4],
  condensations: [],
  branches: [8],
  tasks: [3],
  spent: [],
};

test("from each position the next mark is found in both directions", () => {
  const walk = (from: number, isForward: boolean): number[] => {
    const places: number[] = [];
    for (let at = nextMark(landmarks, from, isForward); at !== null; at = nextMark(landmarks, at, isForward))
      places.push(at);
    return places;
  };
  expect(walk(1, true)).toEqual([2, 3, 4, 5, 7, 8]);
  expect(walk(9, false)).toEqual([8, 7, 5, 4, 3, 2]);
  expect(nextMark(null, 1, true)).toBeNull();
});

test("a position is named by what matters most there", () => {
  const named = [1, 2, 3, 4, 7, 8].map((at) => markAt(landmarks, at));
  expect(named).toEqual([null, "turns", "tasks", "rejected", "errors", "branches"]);
  expect(markAt(null, 2)).toBeNull();
});
