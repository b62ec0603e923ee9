import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { LoopPace } from "./loop-pace.ts";

/** Those that go on take the time that the test says; `gone` are those that have. */
function openPace(eachMs: number) {
  let nowMs = 0;
  const gone: number[] = [];
  const pace = new LoopPace(() => nowMs);
  const go = async (number: number): Promise<void> => {
    await pace.pass();
    nowMs += eachMs;
    gone.push(number);
  };
  return { pace, gone, go };
}

const numbers = Array.from({ length: 500 }, (_, number) => number);

test("hundreds of waiters are resumed in order, for a few milliseconds in each turn of the loop", async () => {
  const { gone, go } = openPace(2);
  const all = Promise.all(numbers.map(go));
  const ofTurn: number[] = [];
  for (let before = 0; before < numbers.length; before = gone.length) {
    await nextTurn();
    ofTurn.push(gone.length - before);
  }
  await all;
  expect(gone).toEqual(numbers);
  // The first turn does not know yet what they cost.
  expect(Math.max(...ofTurn.slice(1))).toBeLessThanOrEqual(5);
  expect(ofTurn.length).toBeGreaterThan(90);
});

test("waiters with negligible cost are resumed together", async () => {
  const { gone, go } = openPace(0.001);
  await Promise.all(numbers.map(go));
  const again = Promise.all(numbers.map(go));
  await nextTurn();
  expect(gone).toHaveLength(2 * numbers.length);
  await again;
});

test("a few waiters are resumed without waiting for the event loop", async () => {
  const { gone, pace } = openPace(2);
  for (const number of [1, 2, 3]) pace.enter(() => gone.push(number));
  expect(gone).toEqual([1, 2, 3]);
});

test("waiters are never overtaken, and the last one is resumed after all others", async () => {
  const { gone, go, pace } = openPace(3);
  const all = numbers.slice(0, 40).map(go);
  await nextTurn();
  const last = pace.pass().then(() => gone.length);
  await Promise.all(all);
  expect(await last).toBe(40);
});
