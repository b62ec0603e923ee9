import { expect, test } from "vitest";
import type { KindFilter } from "../journal/journal.ts";
import { readLandmarks } from "./landmarks.ts";

const noUpdates = { read: async () => ({ branches: [], tasks: [], spent: [] }) };
const rowOf = (lastSeq: number, config: object = {}) => ({
  id: "c",
  createdAtMicros: 1,
  lastSeq,
  config: JSON.stringify({ agent: { llm: { model: "m" } }, workspace: {}, ...config }),
});

function journalOf(places: Readonly<Record<string, readonly number[]>>) {
  return {
    findSeqs: async (_id: string, { kind, source }: KindFilter): Promise<number[]> => [
      ...(places[source === undefined ? kind : `${kind} of ${source}`] ?? []),
    ],
    getEvents: async (_id: string, ids: readonly string[]) =>
      ids.map((id) => ({ seq: Number(id), id, json: "{}", meta: null })),
  };
}

test("S18: failures of runs and of calls stand in one order", async () => {
  const journal = journalOf({ ConversationErrorEvent: [3, 9, 11], AgentErrorEvent: [5] });
  expect(await readLandmarks(journal, noUpdates, rowOf(10))).toEqual({
    length: 10,
    turns: [],
    errors: [3, 5, 9],
    rejected: [],
    condensations: [],
    branches: [],
    tasks: [],
    spent: [],
  });
});

test("S18: a fork's beginning is marked, before the navigations in it", async () => {
  const updates = { read: async () => ({ branches: [7], tasks: [], spent: [] }) };
  const row = rowOf(9, { forked_from: { conversation_id: "b", event_id: "4" } });
  expect((await readLandmarks(journalOf({}), updates, row)).branches).toEqual([4, 7]);
});

test("S18: of more marks than a screen shows the first, the last and some between are returned", async () => {
  const all = Array.from({ length: 100_000 }, (_, index) => index + 1);
  const { turns } = await readLandmarks(
    journalOf({ "MessageEvent of user": all }),
    noUpdates,
    rowOf(all.length),
  );
  expect(turns).toHaveLength(500);
  expect(turns[0]).toBe(1);
  expect(turns.at(-1)).toBe(100_000);
  const gaps = turns.slice(1).map((at, index) => at - turns[index]!);
  expect(Math.max(...gaps) - Math.min(...gaps)).toBeLessThanOrEqual(1);
});
