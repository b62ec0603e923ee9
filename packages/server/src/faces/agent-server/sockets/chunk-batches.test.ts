import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PieceBeat } from "./chunk-batches.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open() {
  const sent: string[] = [];
  return { sent, beat: new PieceBeat({ offer: (json) => void sent.push(json) }, 100) };
}

test("the first piece goes at once, those within a beat go together at its end", () => {
  const { sent, beat } = open();
  for (const json of ["1", "2", "3"]) beat.offer(json);
  expect(sent).toEqual(["1"]);
  vi.advanceTimersByTime(100);
  expect(sent).toEqual(["1", '{"kind":"Pieces","frames":[2,3]}']);
  beat.offer("4");
  vi.advanceTimersByTime(100);
  expect(sent.at(-1)).toBe("4");
  vi.advanceTimersByTime(100);
  beat.offer("5");
  expect(sent.at(-1)).toBe("5");
});

test("what waits goes before what is sent next, once, and what is long does not wait", () => {
  const { sent, beat } = open();
  for (const json of ["1", "2"]) beat.offer(json);
  beat.flush();
  beat.flush();
  expect(sent).toEqual(["1", "2"]);
  beat.offer("x".repeat(65_536));
  expect(sent).toHaveLength(3);
});

test("nothing is sent once it is disposed", () => {
  const { sent, beat } = open();
  for (const json of ["1", "2"]) beat.offer(json);
  beat[Symbol.dispose]();
  vi.advanceTimersByTime(1_000);
  expect(sent).toEqual(["1"]);
});
