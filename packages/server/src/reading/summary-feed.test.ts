import { expect, test, vi } from "vitest";
import type { Commit } from "../journal/journal.ts";
import { noMarks } from "../journal/journal.ts";
import { until } from "../testing/until.ts";
import { SummaryFeed } from "./summary-feed.ts";
import type { ConversationInfoSource } from "../engine/state/conversation-info.ts";
import { initialState } from "../engine/state/conversation-state.ts";

function open(owners: Readonly<Record<string, string>>, failures: Error[] = []) {
  let onCommit: (commit: Commit) => void = () => {};
  const reads: string[][] = [];
  const failed: unknown[] = [];
  const feed = new SummaryFeed({
    journal: {
      onCommit: (listener) => {
        onCommit = listener;
        return () => {};
      },
    },
    describeAll: async (ids) => {
      reads.push([...ids]);
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      return ids.flatMap((id) =>
        owners[id] === undefined ? [] : [{ ownerId: owners[id], described: of(id) }],
      );
    },
    onFailure: (error) => failed.push(error),
    everyMs: 20,
  });
  const commit = (conversationId: string): void =>
    onCommit({ type: "appended", conversationId, lastSeq: 1, durationMs: 0 });
  return { feed, commit, reads, failed };
}

function of(id: string): ConversationInfoSource {
  const config = { agent: { llm: {} }, workspace: { working_dir: "/" }, tags: {} };
  const row = { id, title: null, createdAtMicros: 0, updatedAtMicros: 0, marks: noMarks };
  return { ...row, config, state: initialState() } as unknown as ConversationInfoSource;
}

test("S4: changes are joined, and read once for all listeners; nobody gets another user's", async () => {
  const { feed, commit, reads } = open({ mine: "me", theirs: "them" });
  using _feed = feed;
  commit("mine");
  const received: string[] = [];
  const listen = (userId: string): (() => void) =>
    feed.listen({
      userId,
      onSummary: (id) => received.push(`${userId} ${id}`),
      onGone: (id) => received.push(`${userId} gone ${id}`),
    });
  listen("me");
  const stop = listen("me");
  for (let count = 0; count < 100; count += 1) for (const id of ["mine", "theirs"]) commit(id);
  await until(() => received.length >= 2);
  expect(reads).toEqual([["mine", "theirs"]]);
  expect(received).toEqual(["me mine", "me mine"]);
  stop();
  commit("deleted");
  await until(() => received.length === 3);
  expect(received.at(-1)).toBe("me gone deleted");
});

test("S4: after a failed read the state is published later, together with further changes", async () => {
  const failures = [new Error("The disk is unavailable."), new Error("Still.")];
  const { feed, commit, reads, failed } = open({ one: "me", two: "me" }, failures);
  using _feed = feed;
  const received: string[] = [];
  feed.listen({ userId: "me", onSummary: (id) => received.push(id), onGone: () => expect.unreachable() });
  commit("one");
  await until(() => failed.length === 1);
  commit("two");
  await until(() => received.length === 2);
  expect(received.toSorted()).toEqual(["one", "two"]);
  expect(failed).toHaveLength(2);
  expect(reads.at(-1)!.toSorted()).toEqual(["one", "two"]);
});

test("S4: for a conversation that is deleted during a slow read, its end is published last", async () => {
  vi.useFakeTimers();
  using _real = { [Symbol.dispose]: () => void vi.useRealTimers() };
  let touch: () => void = () => {};
  const slow = Promise.withResolvers<void>();
  let reads = 0;
  using feed = new SummaryFeed({
    journal: {
      onCommit: (listener) => {
        touch = () => listener({ type: "appended", conversationId: "one", lastSeq: 1, durationMs: 0 });
        return () => {};
      },
    },
    describeAll: async () => {
      reads += 1;
      if (reads > 1) return [];
      await slow.promise;
      return [{ ownerId: "me", described: of("one") }];
    },
    onFailure: (error) => expect.unreachable(String(error)),
  });
  const received: string[] = [];
  feed.listen({
    userId: "me",
    onSummary: (id) => received.push(id),
    onGone: (id) => received.push(`gone ${id}`),
  });
  touch();
  await vi.advanceTimersByTimeAsync(1_000);
  touch();
  await vi.advanceTimersByTimeAsync(1_000);
  slow.resolve();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(received).toEqual(["one", "gone one"]);
  expect(reads).toBe(2);
});
