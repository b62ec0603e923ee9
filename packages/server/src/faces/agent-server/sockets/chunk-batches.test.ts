import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ChunkBatches } from "./chunk-batches.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open() {
  const sent: string[] = [];
  return { sent, batches: new ChunkBatches({ offer: (json) => void sent.push(json) }, 100) };
}

test("the first chunk is sent at once, those within the interval are sent together at its end", () => {
  const { sent, batches } = open();
  for (const json of ["1", "2", "3"]) batches.offer(json);
  expect(sent).toEqual(["1"]);
  vi.advanceTimersByTime(100);
  expect(sent).toEqual(["1", '{"kind":"Pieces","frames":[2,3]}']);
  batches.offer("4");
  vi.advanceTimersByTime(100);
  expect(sent.at(-1)).toBe("4");
  vi.advanceTimersByTime(100);
  batches.offer("5");
  expect(sent.at(-1)).toBe("5");
});

test("waiting chunks are sent once, before anything sent next, and a long batch is sent early", () => {
  const { sent, batches } = open();
  for (const json of ["1", "2"]) batches.offer(json);
  batches.flush();
  batches.flush();
  expect(sent).toEqual(["1", "2"]);
  batches.offer("x".repeat(65_536));
  expect(sent).toHaveLength(3);
});

test("nothing is sent once it is disposed", () => {
  const { sent, batches } = open();
  for (const json of ["1", "2"]) batches.offer(json);
  batches[Symbol.dispose]();
  vi.advanceTimersByTime(1_000);
  expect(sent).toEqual(["1"]);
});
