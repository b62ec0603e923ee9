import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test, vi } from "vitest";
import { FolderLeases } from "../cluster/named-leases.ts";
import { openTestDatabase } from "../testing/test-database.ts";
import { DamagedEventError, type Journal } from "../journal/journal.ts";
import { openJournal } from "../journal/open-journal.ts";
import { sampleConversation, sampleEvent } from "../journal/sample-events.ts";
import { DatabaseUnavailableError } from "../lib/database-unavailable.ts";
import { silentLogger } from "../lib/logger.ts";
import { nextUuid7 } from "../lib/uuid7.ts";
import { wait } from "../lib/wait.ts";
import { withMethods } from "../testing/with-methods.ts";
import { webhookDefaults, type WebhookSpec } from "./webhook.ts";
import { Webhooks } from "./webhooks.ts";
import { systemClock } from "../lib/clock.ts";

const conversationIds = Array.from(
  { length: 8 },
  (_, index) => `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
);

/** For what needs no clock but this machine's. */
const polling = { interval: 1, timeout: 60_000 };

test("P42: a receiver that is down for an hour gets every event once it is up: with ids, in order, asked sparingly", async () => {
  await using world = await openWorld({});
  await world.append(conversationIds);
  await world.settle();
  const before = world.reads;
  world.answer = () => 503;
  for (let passed = 0; passed < 6; passed += 1) {
    await world.append(conversationIds);
    await world.advance(600_000);
  }
  const [down] = world.hooks.status;
  expect(down).toMatchObject({ lag_events: 8 * 6, lag_conversations: 8, skipped_events: 0 });
  expect(down!.last_error).toBe("The receiver answered 503.");
  expect(Date.parse(down!.next_attempt_at!)).toBeGreaterThan(world.clock.nowMs);
  // Three quick attempts, then pauses that double up to five minutes, for four conversations each; and nothing is read without
  // an attempt, so what waits is in the log and not in memory.
  expect(world.refused.length).toBeLessThan(100);
  expect(world.reads - before).toBe(world.refused.length);

  world.answer = () => 200;
  await world.advance(400_000);
  await world.settle();
  for (const id of conversationIds) expect(world.eventsAt(id)).toEqual(world.eventsOf(id));
  const deliveries = world.posts.map(({ delivery }) => delivery);
  expect(new Set(deliveries).size).toBe(deliveries.length);
  expect(world.hooks.status[0]).toMatchObject({ lag_events: 0, lag_conversations: 0, next_attempt_at: null });
});

test("P42: a refusal of a receiver delays only this conversation, and the same delivery is retried", async () => {
  await using world = await openWorld({});
  const [fenced, ...others] = conversationIds as [string, ...string[]];
  world.answer = (path) => (path.includes(fenced.replaceAll("-", "")) ? 422 : 200);
  await world.append([fenced]);
  await vi.waitFor(() => expect(world.refused).toHaveLength(1), polling);
  await world.append(others);
  await vi.waitFor(
    () => expect(others.map((id) => world.eventsAt(id).length)).toEqual(others.map(() => 1)),
    polling,
  );
  expect(world.hooks.status[0]!.next_attempt_at).toBeNull();
  await world.append([fenced]);
  await world.advance(10_000);
  await vi.waitFor(() => expect(world.refused.length).toBeGreaterThan(1), polling);
  expect(new Set(world.refused.map(({ delivery }) => delivery)).size).toBe(1);
  world.answer = () => 200;
  await world.advance(400_000);
  await world.settle();
  expect(world.eventsAt(fenced)).toEqual(world.eventsOf(fenced));
});

test("P42 P7: reads of a failing journal are retried, and a damaged event is left out and counted", async () => {
  await using world = await openWorld({});
  const [id] = conversationIds as [string];
  world.fail = () => new Error("the disk is gone");
  await world.append([id]);
  await world.append([id]);
  await vi.waitFor(() => expect(world.hooks.status[0]!.last_error).toBe("the disk is gone"), polling);
  world.fail = (afterSeq, limit) =>
    afterSeq < 2 && afterSeq + limit >= 2 ? new DamagedEventError(id, 2) : null;
  await world.append([id]);
  await world.advance(400_000);
  await world.settle();
  const [first, , third] = world.eventsOf(id);
  expect(world.eventsAt(id)).toEqual([first, third]);
  expect(world.hooks.status[0]).toMatchObject({ skipped_events: 1, lag_events: 0 });
});

test("P42: an incomplete batch waits for flush_delay, and no longer", async () => {
  await using world = await openWorld({ flush_delay: 30, event_buffer_size: 3 });
  const [id] = conversationIds as [string];
  for (let count = 0; count < 4; count += 1) await world.append([id]);
  await vi.waitFor(() => expect(world.eventsAt(id)).toHaveLength(3), polling);
  await world.advance(29_000);
  expect(world.eventsAt(id)).toHaveLength(3);
  await world.advance(1_000);
  await vi.waitFor(() => expect(world.eventsAt(id)).toHaveLength(4), polling);
});

test("P42: a receiver whose cursor could not be read is free for the next check, of any node", async () => {
  await using folder = await openTemporaryDirectory();
  await using database = await openTestDatabase(folder.path);
  await using journal = await openJournal({ memory: true });
  const leases = new FolderLeases(folder.path);
  const names: string[] = [];
  await using hooks = new Webhooks({
    hooks: [{ ...webhookDefaults, base_url: "http://127.0.0.1:1" }],
    database: withMethods(database, {
      get tables(): never {
        throw new DatabaseUnavailableError("The database is unavailable");
      },
    }),
    journal,
    leases: withMethods(leases, {
      take: async (name) => {
        names.push(name);
        return await leases.take(name);
      },
    }),
    conversations: { describe: async () => null },
    clock: systemClock,
    wait,
    logger: silentLogger,
  });
  await expect(hooks.open()).rejects.toThrow(DatabaseUnavailableError);
  await using free = await leases.take(names[0]!);
  expect(free).not.toBeNull();
});

type Post = { readonly path: string; readonly delivery: string; readonly ids: readonly string[] };

/** Webhooks over a journal and a receiver, in a time that passes when the test says so. */
async function openWorld(hook: Partial<WebhookSpec>) {
  await using scope = new AsyncDisposableStack();
  const folder = scope.use(await openTemporaryDirectory());
  const database = scope.use(await openTestDatabase(folder.path));
  const journal = scope.use(await openJournal({ memory: true }));
  const clock = new TestClock();
  const posts: Post[] = [];
  const refused: Post[] = [];
  const world = {
    clock,
    posts,
    refused,
    reads: 0,
    answer: (_path: string): number => 200,
    fail: (_afterSeq: number, _limit: number): Error | null => null,
  };
  const server = createServer((request, response) => {
    void (async () => {
      let body = "";
      for await (const chunk of request) body += String(chunk);
      const path = request.url ?? "";
      const isEvents = path.includes("/events/");
      const ids = isEvents ? (JSON.parse(body) as { id: string }[]).map(({ id }) => id) : [];
      const post = { path, delivery: String(request.headers["x-convoke-delivery"]), ids };
      const status = world.answer(path);
      (status === 200 ? posts : refused).push(post);
      response.writeHead(status).end();
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  scope.defer(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const read: Journal["read"] = async (id, afterSeq, limit) => {
    world.reads += 1;
    const error = world.fail(afterSeq, limit);
    if (error !== null) throw error;
    return await journal.read(id, afterSeq, limit);
  };
  const hooks = scope.use(
    new Webhooks({
      hooks: [{ ...webhookDefaults, flush_delay: 0, base_url, ...hook }],
      database,
      journal: { ...journal, read, searchConversations: (query) => journal.searchConversations(query) },
      leases: new FolderLeases(folder.path),
      conversations: { describe: async (id) => JSON.stringify({ id }) },
      clock: { nowMs: () => clock.nowMs },
      wait: (ms, signal) => clock.wait(ms, signal),
      logger: silentLogger,
    }),
  );
  await hooks.open();
  scope.defer(journal.onCommit(({ conversationId, lastSeq }) => hooks.onAppend(conversationId, lastSeq)));
  const leases = new Map<string, Awaited<ReturnType<Journal["claim"]>>>();
  const written = new Map<string, string[]>();
  const append = async (ids: readonly string[]): Promise<void> => {
    for (const id of ids) {
      if (!leases.has(id)) {
        await journal.createConversation(sampleConversation(id));
        leases.set(id, await journal.claim(id));
      }
      const known = written.get(id) ?? [];
      const seq = known.length + 1;
      const eventId = nextUuid7(known.at(-1) ?? null, clock.nowMs);
      const sample = sampleEvent(seq);
      const event = { ...sample, id: eventId, json: sample.json.replace(sample.id, eventId) };
      await journal.append(leases.get(id)!, { expectedSeq: known.length, events: [event] });
      written.set(id, [...known, eventId]);
    }
  };
  const owned = scope.move();
  return Object.assign(world, {
    hooks,
    append,
    eventsOf: (id: string): readonly string[] => written.get(id) ?? [],
    /** What the receiver took, in the order in which it came. */
    eventsAt: (id: string): readonly string[] =>
      posts.filter(({ path }) => path.endsWith(id.replaceAll("-", ""))).flatMap(({ ids }) => ids),
    advance: async (ms: number): Promise<void> => {
      // At rest each conversation waits for the clock, or for one of the four that do.
      const isAtRest = (): boolean => clock.waiting >= Math.min(4, hooks.status[0]!.lag_conversations);
      await vi.waitFor(() => expect(isAtRest()).toBe(true), polling);
      await clock.advance(ms, isAtRest);
    },
    settle: async (): Promise<void> => {
      await vi.waitFor(() => expect(hooks.status[0]!.lag_conversations).toBe(0), polling);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  });
}

class TestClock {
  nowMs = Date.UTC(2026, 0, 1);
  readonly #timers = new Set<{ readonly atMs: number; readonly ring: () => void }>();

  get waiting(): number {
    return this.#timers.size;
  }

  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const ring = (): void => {
        this.#timers.delete(timer);
        signal.removeEventListener("abort", ring);
        resolve();
      };
      const timer = { atMs: this.nowMs + ms, ring };
      this.#timers.add(timer);
      signal.addEventListener("abort", ring);
    });
  }

  /** Timers ring one moment after the other, and what they lead to has its time before the next. */
  async advance(ms: number, isAtRest: () => boolean): Promise<void> {
    const untilMs = this.nowMs + ms;
    for (;;) {
      const nextMs = Math.min(...Array.from(this.#timers, ({ atMs }) => atMs));
      if (nextMs > untilMs) break;
      this.nowMs = Math.max(this.nowMs, nextMs);
      for (const timer of this.#timers) if (timer.atMs <= this.nowMs) timer.ring();
      await vi.waitFor(() => expect(isAtRest()).toBe(true), polling);
    }
    this.nowMs = untilMs;
  }
}
