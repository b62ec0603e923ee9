import fc from "fast-check";
import { expect, test } from "vitest";
import type { StoredEvent } from "./journal.ts";
import { sampleEvent } from "./sample-events.ts";
import { TailCache } from "./tail-cache.ts";

const conversations = ["one", "two", "three"] as const;

/** What happens to a log, in any order: own appends, seen or not; appends of another node and the ring that tells of them. */
const conversation = fc.constantFrom(...conversations);
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("append"),
      conversation,
      count: fc.integer({ min: 1, max: 6 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constantFrom("append unseen", "other node", "forget"), conversation }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("read"),
      conversation,
      back: fc.integer({ min: -2, max: 10 }),
      limit: fc.integer({ min: 1, max: 8 }),
    }),
  },
);

test("P1: whatever happens, the tail answers as the log does, or not at all", () => {
  let answered = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: "max" }), (steps) => {
      const cache = new TailCache({
        eventsPerConversation: 8,
        charactersPerConversation: 900,
        characters: 1600,
      });
      const logs = new Map<string, StoredEvent[]>(conversations.map((id) => [id, []]));
      for (const item of steps) {
        const log = logs.get(item.conversation) ?? [];
        if ("limit" in item) {
          const afterSeq = Math.max(0, log.length - item.back);
          const read = cache.read(item.conversation, afterSeq, item.limit);
          if (read === null) continue;
          answered += 1;
          expect(read.length).toBeGreaterThan(0);
          // After an unannounced append of another node the answer may end early, and has no hole even then.
          expect(read).toEqual(log.slice(afterSeq, afterSeq + read.length));
          expect(read.length).toBeLessThanOrEqual(item.limit);
        } else if (item.type === "forget") {
          cache.forget(item.conversation);
        } else {
          const events = Array.from({ length: "count" in item ? item.count : 1 }, (_, index) =>
            sampleEvent(log.length + 1 + index, { minLength: 60 + ((log.length + index) % 5) * 60 }),
          );
          if (item.type === "append") cache.add(item.conversation, log.length, events);
          log.push(...events.map(({ id, json }, index) => ({ seq: log.length + 1 + index, id, json })));
        }
      }
    }),
    { numRuns: 300 },
  );
  expect(answered).toBeGreaterThan(500);
});

test("followers that are equally far share one answer until the log grows", () => {
  const cache = new TailCache();
  cache.add("one", 0, [sampleEvent(1), sampleEvent(2)]);
  const first = cache.read("one", 0, 100);
  expect(cache.read("one", 0, 100)).toBe(first);
  cache.add("one", 2, [sampleEvent(3)]);
  expect(cache.read("one", 0, 100)?.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(first?.map(({ seq }) => seq)).toEqual([1, 2]);
});

test("P5: the tails of all conversations together stay below their limit", () => {
  const cache = new TailCache({
    eventsPerConversation: 10,
    charactersPerConversation: 10_000,
    characters: 5000,
  });
  for (let number = 0; number < 10; number += 1) {
    cache.add(`conversation-${number}`, 0, [sampleEvent(1, { minLength: 1000 })]);
  }
  const cached = Array.from(
    { length: 10 },
    (_, number) => cache.read(`conversation-${number}`, 0, 1) !== null,
  );
  expect(cached).toEqual([false, false, false, false, false, true, true, true, true, true]);
});

test("an event above the limit is not kept, and what follows it is", () => {
  const cache = new TailCache({
    eventsPerConversation: 10,
    charactersPerConversation: 500,
    characters: 5000,
  });
  cache.add("one", 0, [sampleEvent(1, { minLength: 600 })]);
  expect(cache.read("one", 0, 10)).toBeNull();
  cache.add("one", 1, [sampleEvent(2)]);
  expect(cache.read("one", 0, 10)).toBeNull();
  expect(cache.read("one", 1, 10)?.map(({ seq }) => seq)).toEqual([2]);
});
