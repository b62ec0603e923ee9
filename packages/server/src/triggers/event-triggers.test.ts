import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { samplePlan } from "../automations/contract.ts";
import { AutomationStore } from "../automations/automation-store.ts";
import type { Occurrence, TriggerPort } from "../automations/trigger-port.ts";
import type { NamedLeases } from "../cluster/named-leases.ts";
import type { Commit, ConversationRow } from "../journal/journal.ts";
import { silentLogger } from "../lib/logger.ts";
import { nextUuid7 } from "../lib/uuid7.ts";
import { wait } from "../lib/wait.ts";
import { createSecretBox } from "../security/seal.ts";
import { openTestDatabase } from "../testing/test-database.ts";
import { EventCursor } from "./event-cursor.ts";
import { EventTriggers } from "./event-triggers.ts";

type TestEvent = { readonly id: string; readonly atMs: number; readonly json: string };

/** Conversations with the events that are looked for, the leases of several nodes, and what was started. */
class World implements AsyncDisposable {
  nowMs = 1_000_000_000_000;
  readonly rows = new Map<string, { row: Partial<ConversationRow>; events: TestEvent[] }>();
  readonly started: { readonly automationId: string; readonly occurrence: Occurrence }[] = [];
  /** Thrown by the next trigger. */
  failure: Error | null = null;
  reads = 0;
  readonly store: AutomationStore;
  readonly cursor: EventCursor;
  readonly #scope: AsyncDisposableStack;
  readonly #listeners = new Set<(commit: Commit) => void>();
  #holder: object | null = null;
  #lastId: string | null = null;

  private constructor(scope: AsyncDisposableStack, store: AutomationStore, cursor: EventCursor) {
    this.#scope = scope;
    this.store = store;
    this.cursor = cursor;
  }

  static async open(): Promise<World> {
    const scope = new AsyncDisposableStack();
    const folder = scope.use(await openTemporaryDirectory());
    const database = scope.use(await openTestDatabase(folder.path));
    const clock = { nowMs: () => world.nowMs };
    const secretBox = createSecretBox(Buffer.alloc(32, 1));
    const store = new AutomationStore({ database, secretBox, clock });
    const world: World = new World(scope, store, new EventCursor(database));
    return world;
  }

  async automation(trigger: object = {}): Promise<string> {
    const plan = {
      ...samplePlan,
      trigger: { kind: "event", statuses: ["finished"], ...trigger },
    } as typeof samplePlan;
    return (await this.store.create("ada", plan, { isPaused: false, nextDueMs: null }, null)).id;
  }

  /** A status in the log of a conversation, as of now. */
  status(conversation: string, value: string, more: Partial<ConversationRow> = {}): void {
    const id = (this.#lastId = nextUuid7(this.#lastId, this.nowMs));
    const event = {
      id,
      kind: "ConversationStateUpdateEvent",
      timestamp: "t",
      key: "execution_status",
      value,
    };
    const { events = [] } = this.rows.get(conversation) ?? {};
    events.push({ id, atMs: this.nowMs, json: JSON.stringify(event) });
    const row = {
      id: conversation,
      ownerId: "ada",
      title: null,
      updatedAtMicros: this.nowMs * 1_000,
      lastSeq: events.length,
      ...more,
    };
    this.rows.set(conversation, { row, events });
    const commit = { type: "appended", conversationId: conversation, lastSeq: 1, durationMs: 0 } as const;
    for (const listener of this.#listeners) listener(commit);
  }

  node({ hasOthers = false, depth = 0 } = {}): EventTriggers {
    const port: TriggerPort = {
      trigger: async (automationId, occurrence) => {
        const { failure } = this;
        this.failure = null;
        if (failure !== null) throw failure;
        const isKnown = this.started.some(
          (one) => one.automationId === automationId && one.occurrence.key === occurrence.key,
        );
        if (!isKnown) this.started.push({ automationId, occurrence });
        return null;
      },
    };
    const leases: NamedLeases = {
      mayHaveOthers: () => hasOthers,
      take: async () => {
        if (this.#holder !== null) return null;
        const mine = (this.#holder = {});
        return {
          isHeld: () => this.#holder === mine,
          [Symbol.asyncDispose]: async () => {
            if (this.#holder === mine) this.#holder = null;
          },
        };
      },
    };
    return new EventTriggers({
      store: this.store,
      port,
      journal: {
        onCommit: (listener) => {
          this.#listeners.add(listener);
          return () => this.#listeners.delete(listener);
        },
        searchConversations: async () => ({
          items: [...this.rows.values()]
            .map(({ row }) => row as ConversationRow)
            .toSorted((one, other) => other.updatedAtMicros - one.updatedAtMicros),
          nextPageId: null,
        }),
        search: async (id, { timestampGteMicros = 0 }) => {
          this.reads += 1;
          const { events = [] } = this.rows.get(id) ?? {};
          const found = events.filter(({ atMs }) => atMs * 1_000 >= timestampGteMicros);
          return { items: found.map(({ json }) => json), nextPageId: null };
        },
      },
      factsOf: ({ id, ownerId, title }) => ({
        id,
        ownerId,
        title,
        tags: {},
        workingDir: "/",
        isTask: false,
        automationId: null,
        depth,
      }),
      cursor: this.cursor,
      leases,
      clock: { nowMs: () => this.nowMs },
      wait,
      logger: silentLogger,
    });
  }

  /** Which conversations started something, in this order. */
  conversations(): readonly unknown[] {
    return this.started.map(({ occurrence }) => occurrence.payload?.["conversation_id"]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#scope.disposeAsync();
  }
}

test("an event starts its automations once, however often it is looked through", async () => {
  await using world = await World.open();
  const automationId = await world.automation();
  await using node = world.node();
  await node.check();
  world.nowMs += 1_000;
  world.status("c1", "running");
  world.status("c1", "finished");
  world.status("c2", "error");
  await node.check();
  expect(world.started).toEqual([
    {
      automationId,
      occurrence: {
        origin: "event",
        key: expect.stringMatching(/^c1:/),
        payload: expect.objectContaining({ conversation_id: "c1", status: "finished", depth: 1 }),
      },
    },
  ]);
  const { reads } = world;
  await node.check();
  expect(world.reads).toBe(reads);
  world.nowMs += 1_000;
  world.status("c1", "running");
  await node.check();
  expect(world.started).toHaveLength(1);
  world.status("c1", "finished");
  await node.check();
  expect(world.conversations()).toEqual(["c1", "c1"]);
});

test("what happened while no node looked is found from the stored cursor on, and a crash starts nothing twice", async () => {
  await using world = await World.open();
  await world.automation();
  {
    await using node = world.node();
    await node.check();
    world.nowMs += 1_000;
    world.status("c1", "finished");
    await node.check();
  }
  world.nowMs += 3_600_000;
  world.status("c2", "finished");
  world.nowMs += 3_600_000;
  await using next = world.node();
  await next.check();
  expect(world.conversations()).toEqual(["c1", "c2"]);
  // As after the restore of an older cursor.
  await world.cursor.save(world.nowMs - 7_300_000);
  await next[Symbol.asyncDispose]();
  await using again = world.node();
  await again.check();
  expect(world.conversations()).toEqual(["c1", "c2"]);
});

test("a failure is tried again at the next check, from where it was", async () => {
  await using world = await World.open();
  await world.automation();
  await using node = world.node();
  await node.check();
  world.nowMs += 1_000;
  world.status("c1", "finished");
  world.failure = new Error("The database is away.");
  await expect(node.check()).rejects.toThrow("away");
  world.nowMs += 60_000;
  await node.check();
  expect(world.conversations()).toEqual(["c1"]);
});

test("of several nodes one looks, and another one goes on after its end", async () => {
  await using world = await World.open();
  await world.automation();
  const one = world.node({ hasOthers: true });
  await using other = world.node({ hasOthers: true });
  await one.check();
  world.nowMs += 1_000;
  world.status("c1", "finished");
  await other.check();
  expect(world.started).toEqual([]);
  await one.check();
  await one[Symbol.asyncDispose]();
  world.nowMs += 1_000;
  world.status("c2", "finished");
  await other.check();
  expect(world.conversations()).toEqual(["c1", "c2"]);
});

test("events from before an automation start nothing, also when it is the first one", async () => {
  await using world = await World.open();
  await using node = world.node();
  world.status("c1", "finished");
  await node.check();
  world.nowMs += 1_000;
  world.status("c2", "finished");
  world.nowMs += 1;
  await world.automation();
  world.nowMs += 1;
  world.status("c3", "finished");
  await node.check();
  expect(world.conversations()).toEqual(["c3"]);
});

test("a conversation at the end of a chain is recorded with a refusal", async () => {
  await using world = await World.open();
  await world.automation();
  await using node = world.node({ depth: 3 });
  await node.check();
  world.nowMs += 1_000;
  world.status("c1", "finished");
  await node.check();
  expect(world.started[0]?.occurrence.refusal).toMatch(/longer chain/);
});
