import { expect, test } from "vitest";
import { look, mostStillLooks, noLooks, type Looks, type SeenNode } from "./node-polls.ts";

const gapMs = 2000;

/** Looks at these beats, one a second unless it says otherwise; answers who is dead after each. */
function lookAt(rounds: readonly (readonly SeenNode[])[], stepMs = 1000): string[][] {
  let looks: Looks = noLooks;
  return rounds.map((seen, round) => {
    const answer = look(looks, round * stepMs, gapMs, seen);
    looks = answer.looks;
    return answer.dead.map(({ id }) => id);
  });
}

const still = (count: number): SeenNode[][] =>
  Array.from({ length: count }, () => [{ id: "still", beat: 7 }]);

test("P28: a node whose beat stands still for six looks is dead, not before", () => {
  const dead = lookAt(still(mostStillLooks + 1));
  expect(dead.slice(0, -1).flat()).toEqual([]);
  expect(dead.at(-1)).toEqual(["still"]);
});

test("one beat in between begins the count anew", () => {
  const rounds = [...still(mostStillLooks), [{ id: "still", beat: 8 }], ...still(mostStillLooks)];
  expect(lookAt(rounds).flat()).toEqual([]);
});

test("P27: a looker that was paused, or had no database, declares nobody dead", () => {
  expect(lookAt(still(50), gapMs + 1).flat()).toEqual([]);
});

test("a node that beats lives beside one that is dead; one that is gone is forgotten", () => {
  const rounds = Array.from({ length: mostStillLooks + 1 }, (_, round) => [
    { id: "still", beat: 7 },
    { id: "lively", beat: round },
  ]);
  expect(lookAt([...rounds, [{ id: "lively", beat: 99 }]]).slice(-2)).toEqual([["still"], []]);
});
