import type { OverviewItem, OverviewOptions } from "@convoke/client";
import type { Glance } from "@convoke/protocol";
import { expect, test } from "vitest";
import { OverviewStore } from "./overview-store.ts";

/** A server whose frames the test sends one after another. */
function play() {
  const waiting: OverviewItem[] = [];
  let options: OverviewOptions = {};
  let ring = Promise.withResolvers<void>();
  const failures: unknown[] = [];
  let connections = 0;
  const store = new OverviewStore({
    follow: async function* (given) {
      options = given;
      while (given.signal?.aborted !== true) {
        for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) yield item;
        await ring.promise;
        ring = Promise.withResolvers();
      }
    },
    nextFrame: (callback) => callback(),
    onFailure: (error) => failures.push(error),
    onConnected: () => (connections += 1),
  });
  const send = async (...items: OverviewItem[]): Promise<void> => {
    waiting.push(...items);
    ring.resolve();
    await new Promise((resolve) => setTimeout(resolve, 0));
  };
  return { store, send, failures, options: () => options, connections: () => connections };
}

const summary = (id: string, updatedAt: string, more: Partial<Glance> = {}): OverviewItem => ({
  type: "summary",
  summary: {
    id,
    title: id,
    execution_status: "idle",
    updated_at: updatedAt,
    working_dir: "/work",
    model: null,
    cost: 0,
    parent_conversation_id: null,
    tags: {},
    ...more,
  } as Glance,
});

const ids = (store: OverviewStore): string[] => store.snapshot().summaries.map(({ id }) => id);

test("the first list is shown whole, the newest first, and follows what changes and what goes", async () => {
  const { store, send } = play();
  store.start(new AbortController().signal);
  await send(summary("a", "2026-01-01T00:00:01Z"), summary("b", "2026-01-01T00:00:02Z"));
  expect(store.snapshot()).toEqual({ summaries: [], phase: "loading" });
  await send({ type: "listed", ids: ["a", "b"] });
  expect(store.snapshot().phase).toBe("ready");
  expect(ids(store)).toEqual(["b", "a"]);
  await send(summary("a", "2026-01-01T00:00:03Z", { execution_status: "running" }));
  expect(ids(store)).toEqual(["a", "b"]);
  const [, b] = store.snapshot().summaries;
  await send(summary("c", "2026-01-01T00:00:04Z"), { type: "gone", id: "a" });
  expect(ids(store)).toEqual(["c", "b"]);
  expect(store.snapshot().summaries[1]).toBe(b);
});

test("what was removed while there was no connection is gone after the next one", async () => {
  const { store, send } = play();
  store.start(new AbortController().signal);
  await send(summary("a", "1"), summary("b", "2"), { type: "listed", ids: ["a", "b"] });
  await send(summary("b", "2"), { type: "listed", ids: ["b"] });
  expect(ids(store)).toEqual(["b"]);
});

test("a page that comes back from sleep ends the wait, and a first connection that fails says so", async () => {
  const { store, options } = play();
  store.start(new AbortController().signal);
  let woken = 0;
  options().retryNow?.(() => (woken += 1));
  store.wake();
  expect(woken).toBe(1);
  options().onConnection?.({ state: "lost", atMs: 0, reason: null, retryAtMs: null });
  expect(store.snapshot().phase).toBe("failed");
});

test("S6: an archived conversation leaves the list, and comes back when it is taken out", async () => {
  const { store, send } = play();
  store.start(new AbortController().signal);
  await send(summary("a", "1"), summary("b", "2"), { type: "listed", ids: ["a", "b"] });
  await send(summary("b", "3", { is_archived: true }), summary("c", "4", { is_archived: true }));
  expect(ids(store)).toEqual(["a"]);
  await send(summary("b", "5", { is_archived: false }));
  expect(ids(store)).toEqual(["b", "a"]);
});

test("U16: each time the server can be reached again is told, so that what waits is sent at once", () => {
  const { store, options, connections } = play();
  store.start(new AbortController().signal);
  const change = (state: "connected" | "lost"): void =>
    options().onConnection?.({ state, atMs: 0, reason: null, retryAtMs: null });
  change("connected");
  change("lost");
  expect(connections()).toBe(1);
  change("connected");
  expect(connections()).toBe(2);
});
