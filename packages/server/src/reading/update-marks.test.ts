import { expect, test } from "vitest";
import { UpdateMarks } from "./update-marks.ts";

type Update = { readonly key: string; readonly value: unknown };
const spending = (cost: number, tokens = 0): Update => ({
  key: "stats",
  value: {
    usage_to_metrics: {
      agent: {
        accumulated_cost: cost,
        accumulated_token_usage: { per_turn_token: tokens, context_window: 100 },
      },
      title: { accumulated_cost: 1 },
    },
  },
});
const task = (id: string, status: string): Update => ({ key: "task", value: { task_id: id, status } });

/** A journal of updates alone, and which places of it were read. */
function journalOf(updates: readonly Update[]) {
  const read: number[] = [];
  const readKinds = async (_id: string, _kinds: readonly string[], fromSeq: number, toSeq: number) =>
    updates.slice(fromSeq - 1, toSeq).map((update, index) => {
      read.push(fromSeq + index);
      return { seq: fromSeq + index, id: "", json: JSON.stringify(update), meta: null };
    });
  return { read, journal: { readKinds } };
}
const row = (lastSeq: number, createdAtMicros = 1) => ({ id: "c", createdAtMicros, lastSeq });

test("S18: updates contain spending, starts of sub-agents and navigations", async () => {
  const updates = [
    spending(1, 20),
    task("a", "running"),
    task("b", "running"),
    task("a", "completed"),
    { key: "leaf_event_id", value: null },
    { key: "title", value: '"key":"stats"' },
    { key: "stats", value: { usage_to_metrics: {} } },
  ];
  expect(await new UpdateMarks(journalOf(updates).journal).read(row(7))).toEqual({
    branches: [5],
    tasks: [2, 3],
    spent: [
      { position: 1, cost: 2, context: 0.2 },
      { position: 7, cost: 0, context: null },
    ],
  });
});

test("S18: a log that has grown is read from where it ended, another log of the same id from its beginning", async () => {
  const { journal, read } = journalOf([spending(1), spending(2), spending(3)]);
  const marks = new UpdateMarks(journal);
  expect((await marks.read(row(2))).spent.map(({ cost }) => cost)).toEqual([2, 3]);
  expect((await marks.read(row(3))).spent.map(({ cost }) => cost)).toEqual([2, 3, 4]);
  expect(read).toEqual([1, 2, 3]);
  await marks.read(row(3, 2));
  expect(read).toEqual([1, 2, 3, 1, 2, 3]);
});

test("S18: of a long log some hundred spendings are returned, the newest among them, evenly spaced", async () => {
  const { journal } = journalOf(Array.from({ length: 50_000 }, (_, index) => spending(index)));
  const { spent } = await new UpdateMarks(journal).read(row(50_000));
  expect(spent.length).toBeGreaterThan(150);
  expect(spent.length).toBeLessThanOrEqual(400);
  expect(spent.at(-1)).toMatchObject({ position: 50_000, cost: 50_000 });
  const gaps = spent.slice(1, -1).map(({ position }, index) => position - spent[index]!.position);
  expect(Math.max(...gaps)).toBeLessThan(400);
});
