import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLog } from "./contract.ts";
import { follow } from "./follow.ts";
import type { Journal, StoredEvent } from "./journal.ts";
import { openJournal } from "./open-journal.ts";
import { sampleEvent } from "./sample-events.ts";

let journal: Journal;
beforeAll(async () => {
  journal = await openJournal({ memory: true });
});
afterAll(async () => {
  await journal[Symbol.asyncDispose]();
});

test("P1: history and news arrive in order, each once", async () => {
  const lease = await startLog(journal);
  const append = (seq: number): Promise<void> =>
    journal.append(lease, { expectedSeq: seq - 1, events: [sampleEvent(seq)] });
  for (let seq = 1; seq <= 25; seq += 1) await append(seq);
  const following = collect(
    follow(journal, lease.conversationId, { afterSeq: 5, signal: timeLimit(), batchSize: 4 }),
    45,
  );
  for (let seq = 26; seq <= 50; seq += 1) await append(seq);
  expect((await following).map(({ seq }) => seq)).toEqual(
    Array.from({ length: 45 }, (_, index) => index + 6),
  );
});

test("P1: an event that lands between the read and the wait is not missed", async () => {
  const lease = await startLog(journal);
  let landed = 0;
  const racing: Pick<Journal, "read" | "onAppend"> = {
    onAppend: (id, onRing) => journal.onAppend(id, onRing),
    read: async (id, afterSeq, limit) => {
      const events = await journal.read(id, afterSeq, limit);
      // The reader has looked; the ring comes before it can wait.
      if (landed < 10) {
        landed += 1;
        await journal.append(lease, { expectedSeq: landed - 1, events: [sampleEvent(landed)] });
      }
      return events;
    },
  };
  const events = await collect(
    follow(racing, lease.conversationId, { afterSeq: 0, signal: timeLimit() }),
    10,
  );
  expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test("P1: readers that come and go at any moment get the log: no gap, no double, in order", async () => {
  const reader = fc.record({
    /** Before which append it comes, how far back it starts, how much it reads at once, after how many events it leaves. */
    joinsAt: fc.integer({ min: 0, max: 29 }),
    back: fc.integer({ min: 0, max: 8 }),
    batchSize: fc.integer({ min: 1, max: 5 }),
    leavesAfter: fc.integer({ min: 1, max: 40 }),
  });
  const plan = fc.record({
    counts: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 30, maxLength: 30 }),
    readers: fc.array(reader, { minLength: 1, maxLength: 6, size: "max" }),
  });
  await fc.assert(
    fc.asyncProperty(plan, async ({ counts, readers }) => {
      const lease = await startLog(journal);
      const total = counts.reduce((sum, count) => sum + count, 0);
      const reading: Promise<{ from: number; wanted: number; seqs: number[] }>[] = [];
      let seq = 0;
      for (const [at, count] of counts.entries()) {
        for (const { back, batchSize, leavesAfter } of readers.filter(({ joinsAt }) => joinsAt === at)) {
          const from = Math.max(0, seq - back);
          const wanted = Math.min(leavesAfter, total - from);
          const options = { afterSeq: from, signal: timeLimit(), batchSize };
          const read = collect(follow(journal, lease.conversationId, options), wanted);
          reading.push(read.then((events) => ({ from, wanted, seqs: events.map((event) => event.seq) })));
        }
        const events = Array.from({ length: count }, (_, index) => sampleEvent(seq + index + 1));
        await journal.append(lease, { expectedSeq: seq, events });
        seq += count;
      }
      for (const { from, wanted, seqs } of await Promise.all(reading)) {
        expect(seqs.length).toBeGreaterThanOrEqual(wanted);
        expect(seqs).toEqual(seqs.map((_, index) => from + index + 1));
      }
    }),
    { numRuns: 25 },
  );
});

test("P10: a slow reader lags by its cursor: it never holds more than one batch", async () => {
  const lease = await startLog(journal);
  const batches: number[] = [];
  let seq = 0;
  const slow = follow(journal, lease.conversationId, { afterSeq: 0, signal: timeLimit(), batchSize: 10 });
  await journal.append(lease, { expectedSeq: 0, events: [sampleEvent((seq += 1))] });
  for await (const batch of slow) {
    batches.push(batch.length);
    if (seq === 61) break;
    for (let count = 0; count < 30; count += 1) {
      await journal.append(lease, { expectedSeq: seq, events: [sampleEvent((seq += 1))] });
    }
  }
  expect(batches).toEqual([1, 10, 10]);
});

test("an abort ends a waiting reader and stops listening", async () => {
  const lease = await startLog(journal);
  const abort = new AbortController();
  let listeners = 0;
  const counted: Pick<Journal, "read" | "onAppend"> = {
    read: (id, afterSeq, limit) => journal.read(id, afterSeq, limit),
    onAppend: (id, onRing) => {
      listeners += 1;
      const stop = journal.onAppend(id, onRing);
      return () => {
        listeners -= 1;
        stop();
      };
    },
  };
  const ended = collect(follow(counted, lease.conversationId, { afterSeq: 0, signal: abort.signal }), 1);
  await journal.lastSeq(lease.conversationId);
  abort.abort();
  expect(await ended).toEqual([]);
  expect(listeners).toBe(0);
});

function timeLimit(): AbortSignal {
  return AbortSignal.timeout(60_000);
}

async function collect(
  batches: AsyncIterable<readonly StoredEvent[]>,
  count: number,
): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const batch of batches) {
    events.push(...batch);
    if (events.length >= count) break;
  }
  return events;
}
