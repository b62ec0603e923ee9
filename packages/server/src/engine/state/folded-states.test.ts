import { afterAll, beforeAll, expect, test } from "vitest";
import { stampDrafts } from "../../events/event-draft.ts";
import type { ConversationRow, Journal, Lease } from "../../journal/journal.ts";
import { openJournal } from "../../journal/open-journal.ts";
import { sampleConversation } from "../../journal/sample-events.ts";
import { initialState } from "./conversation-state.ts";
import { statusUpdate } from "../../events/state-update.ts";
import { FoldedStates } from "./folded-states.ts";
import { loadState, writeSnapshot, type LogReader } from "./load-state.ts";

let journal: Journal;
beforeAll(async () => {
  journal = await openJournal({ memory: true });
});
afterAll(async () => {
  await journal[Symbol.asyncDispose]();
});

/** Creates a conversation with one status in its log. */
async function start(id: string, createdAtMicros: number, status: "finished" | "paused"): Promise<Lease> {
  const times = { createdAtMicros, updatedAtMicros: createdAtMicros };
  await journal.createConversation(sampleConversation(id, { ...times, executionStatus: status }));
  const lease = await journal.claim(id);
  const [event] = stampDrafts([statusUpdate(status)], initialState(), 1_770_000_000_000, (json) => json);
  await journal.append(lease, { expectedSeq: 0, events: [event!.record] });
  return lease;
}

async function rowOf(id: string): Promise<ConversationRow> {
  const row = await journal.getConversation(id);
  if (row === null) throw new Error(`There is no conversation ${id}`);
  return row;
}

test("P38: a log that stands still is folded once; one that grew, or another one under the same id, again", async () => {
  let folds = 0;
  const reader: LogReader = {
    read: (id, afterSeq, limit) => journal.read(id, afterSeq, limit),
    readKinds: (id, kinds, from, to) => {
      folds += 1;
      return journal.readKinds(id, kinds, from, to);
    },
  };
  const states = new FoldedStates(reader, () => {});
  const lease = await start("one", 1000, "finished");
  const first = await rowOf("one");
  expect(await states.of(first)).toEqual(await loadState(journal, first));
  expect((await states.of(first)).status).toBe("finished");
  expect(folds).toBe(1);

  const [paused] = stampDrafts(
    [statusUpdate("paused")],
    await states.of(first),
    1_770_000_000_001,
    (json) => json,
  );
  await journal.append(lease, { expectedSeq: 1, events: [paused!.record] });
  expect((await states.of(await rowOf("one"))).status).toBe("paused");
  expect(folds).toBe(2);

  await journal.deleteConversation(lease);
  const again = await start("one", 2000, "paused");
  await journal.append(again, { expectedSeq: 1, events: [] });
  expect(await states.of(await rowOf("one"))).toEqual(await loadState(journal, await rowOf("one")));
  expect(folds).toBe(3);
});

test("B14: a conversation whose snapshot is of the end of its log is described without reading an event", async () => {
  const lease = await start("at rest", 7_000, "finished");
  const first = await loadState(journal, await rowOf("at rest"));
  await journal.append(lease, {
    expectedSeq: 1,
    events: [],
    conversation: { snapshot: writeSnapshot(first), snapshotSeq: 1 },
  });
  const unread: LogReader = {
    read: () => Promise.reject(new Error("An event was read.")),
    readKinds: () => Promise.reject(new Error("An event was read.")),
  };
  expect(await loadState(unread, await rowOf("at rest"))).toEqual(first);
});
