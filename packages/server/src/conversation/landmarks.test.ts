import { expect, test } from "vitest";
import type { KindFilter } from "../journal/journal.ts";
import { readLandmarks } from "./landmarks.ts";

function journalOf(places: Readonly<Record<string, readonly number[]>>, length: number) {
  return {
    findSeqs: async (_id: string, { kind, source }: KindFilter): Promise<number[]> => [
      ...(places[source === undefined ? kind : `${kind} of ${source}`] ?? []),
    ],
    lastSeq: async (): Promise<number> => length,
  };
}

test("S18: failures of runs and of calls stand in one order", async () => {
  const journal = journalOf({ ConversationErrorEvent: [3, 9], AgentErrorEvent: [5] }, 10);
  expect(await readLandmarks(journal, "c")).toEqual({
    length: 10,
    turns: [],
    errors: [3, 5, 9],
    rejected: [],
    condensations: [],
  });
});

test("S18: of more marks than a screen shows the first, the last and some between are told", async () => {
  const all = Array.from({ length: 100_000 }, (_, index) => index + 1);
  const { turns } = await readLandmarks(journalOf({ "MessageEvent of user": all }, all.length), "c");
  expect(turns).toHaveLength(500);
  expect(turns[0]).toBe(1);
  expect(turns.at(-1)).toBe(100_000);
  const gaps = turns.slice(1).map((at, index) => at - turns[index]!);
  expect(Math.max(...gaps) - Math.min(...gaps)).toBeLessThanOrEqual(1);
});
