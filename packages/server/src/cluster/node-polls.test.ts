import { expect, test } from "vitest";
import { poll, maxStillPolls, noPolls, type NodePolls, type SeenNode } from "./node-polls.ts";

const gapMs = 2000;

/** Polls these heartbeats, one a second by default; returns who is dead after each poll. */
function pollAt(rounds: readonly (readonly SeenNode[])[], stepMs = 1000): string[][] {
  let polls: NodePolls = noPolls;
  return rounds.map((seen, round) => {
    const answer = poll(polls, round * stepMs, gapMs, seen);
    polls = answer.polls;
    return answer.dead.map(({ id }) => id);
  });
}

const still = (count: number): SeenNode[][] =>
  Array.from({ length: count }, () => [{ id: "still", heartbeat: 7 }]);

test("P28: a node whose heartbeat is unchanged for six polls is dead, not before", () => {
  const dead = pollAt(still(maxStillPolls + 1));
  expect(dead.slice(0, -1).flat()).toEqual([]);
  expect(dead.at(-1)).toEqual(["still"]);
});

test("one heartbeat in between restarts the count", () => {
  const rounds = [...still(maxStillPolls), [{ id: "still", heartbeat: 8 }], ...still(maxStillPolls)];
  expect(pollAt(rounds).flat()).toEqual([]);
});

test("P27: a node that was paused, or had no database, declares nobody dead", () => {
  expect(pollAt(still(50), gapMs + 1).flat()).toEqual([]);
});

test("a node with heartbeats lives beside a dead one; one without a row is forgotten", () => {
  const rounds = Array.from({ length: maxStillPolls + 1 }, (_, round) => [
    { id: "still", heartbeat: 7 },
    { id: "lively", heartbeat: round },
  ]);
  expect(pollAt([...rounds, [{ id: "lively", heartbeat: 99 }]]).slice(-2)).toEqual([["still"], []]);
});
