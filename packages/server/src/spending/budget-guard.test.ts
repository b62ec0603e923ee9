import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ApplicationDatabase } from "../database/application-database.ts";
import { DatabaseUnavailableError } from "../lib/database-unavailable.ts";
import { withMethods } from "../testing/with-methods.ts";
import { openTestDatabase } from "../testing/test-database.ts";
import type { ModelUsage } from "../models/model.ts";
import { Ledger } from "./ledger.ts";
import { BudgetGuard, type Purchase } from "./budget-guard.ts";
import { SpendHolds } from "./spend-holds.ts";

const noon = Date.parse("2026-01-31T12:00:00Z");

async function openGuard(maxPerDay: number | null) {
  const folder = await mkdtemp(join(tmpdir(), "convoke-budget-"));
  const database = await openTestDatabase(folder);
  const clock = { nowMs: noon };
  const logger = { info: () => {}, warn: () => {}, error: () => {} };
  const ledger = await Ledger.open({ database, maxPerDay, clock: { nowMs: () => clock.nowMs }, logger });
  const nodes = new Set(["here"]);
  const holdsOf = (nodeId: string, on: ApplicationDatabase = database): SpendHolds => {
    const node = { address: null, release: null, startedAtMs: null };
    const cluster = {
      nodeId,
      nodes: async () => [...nodes].map((id) => ({ ...node, id })),
      nowMs: () => clock.nowMs,
    };
    return new SpendHolds({ database: on, cluster, ledger, logger });
  };
  return {
    clock,
    ledger,
    database,
    nodes,
    holdsOf,
    guard: new BudgetGuard(ledger, holdsOf("here")),
    /** Of another server on the same store. */
    openOther: (node: string) => new BudgetGuard(ledger, holdsOf(node)),
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function usage(cost: number): ModelUsage {
  const tokens = { promptTokens: 1, completionTokens: 1, reasoningTokens: 0 };
  return { ...tokens, cacheReadTokens: 0, cacheWriteTokens: 0, contextWindow: 1, cost };
}

function purchase(more: Partial<Purchase> = {}): Purchase {
  const conversation = () => ({ limit: null, spent: 0 });
  return { userId: "ada", conversationId: "c", maxCost: Infinity, conversation, ...more };
}

const { signal } = new AbortController();

test("P48: with unknown prices, calls under one budget wait for each other; others do not", async () => {
  await using opened = await openGuard(1);
  const { ledger, guard } = opened;
  const first = await guard.admit(purchase(), signal);
  const second = guard.admit(purchase({ conversationId: "d" }), signal);
  expect(await guard.admit(purchase({ userId: "bob" }), signal)).toMatchObject({ type: "admitted" });
  expect(await Promise.race([second, Promise.resolve("waits")])).toBe("waits");
  await ledger.record({ userId: "ada", conversationId: "c", usages: [usage(0.7), usage(0.6)] });
  if (first.type === "admitted") first.release();
  expect(await second).toMatchObject({
    type: "refused",
    detail: expect.stringContaining("$1.3000") as string,
  });
});

test("P48, L23.38: calls whose price is known run side by side as long as all of them fit", async () => {
  await using opened = await openGuard(1);
  const { guard } = opened;
  const dear = purchase({ maxCost: 0.4 });
  expect(await guard.admit(dear, signal)).toMatchObject({ type: "admitted" });
  expect(await guard.admit({ ...dear }, signal)).toMatchObject({ type: "admitted" });
  expect(await guard.admit({ ...dear }, signal)).toMatchObject({ type: "admitted" });
  const stop = new AbortController();
  const waiting = guard.admit({ ...dear }, stop.signal);
  stop.abort();
  expect(await waiting).toEqual({ type: "aborted" });
});

test("P48: a new day brings new money; the conversation's own budget counts all days", async () => {
  await using opened = await openGuard(1);
  const { clock, ledger, guard } = opened;
  await ledger.record({ userId: "ada", conversationId: "c", usages: [usage(2)] });
  expect(await guard.refusal(purchase())).toContain("today");
  clock.nowMs += 86_400_000;
  expect(await guard.refusal(purchase())).toBeNull();
  const limited = purchase({ conversation: () => ({ limit: 2, spent: 0 }) });
  expect(await guard.refusal(limited)).toContain("conversation");
  const report = await ledger.report("ada", 2);
  expect(report).toMatchObject({ cost: 2, today: 0, days: { "2026-01-31": 2 } });
  expect((await ledger.report("ada", 1)).conversations).toEqual([]);
});

test("an entry that could not be stored counts nevertheless, and is stored with the next one", async () => {
  await using opened = await openGuard(null);
  const { database, ledger } = opened;
  await database.tables.schema.alterTable("spend_days").renameTo("away").execute();
  await ledger.record({ userId: "ada", conversationId: "c", usages: [usage(0.5)] });
  await database.tables.schema.alterTable("away").renameTo("spend_days").execute();
  expect(await ledger.spentToday("ada")).toBe(0.5);
  await ledger.record({ userId: "ada", conversationId: "c", usages: [usage(0.25)] });
  expect(await ledger.spentIn("c")).toBe(0.75);
  expect((await ledger.report("ada", 1)).conversations).toMatchObject([{ calls: 2, cost: 0.75 }]);
});

test("P48: a year of spending in ten thousand conversations is reported within a second of work", async () => {
  await using opened = await openGuard(1);
  const { database, ledger } = opened;
  const lines = Array.from({ length: 10_000 }, (_, index) => ({
    user_id: "ada",
    day: new Date(noon - (index % 365) * 86_400_000).toISOString().slice(0, 10),
    conversation_id: String(index),
    cost: 0.5,
    calls: 3,
    prompt_tokens: 10,
    completion_tokens: 1,
  }));
  for (let at = 0; at < lines.length; at += 1000)
    await database.tables
      .insertInto("spend_days")
      .values(lines.slice(at, at + 1000))
      .execute();
  // Not the time on the clock: a machine that is busy with something else is not our work.
  const before = process.cpuUsage();
  const report = await ledger.report("ada", 365);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(1000);
  expect(report).toMatchObject({ cost: 5000, conversations: { length: 1000 } });
});

test("P48: concurrent entries are stored once each, together", async () => {
  await using opened = await openGuard(null);
  const { ledger } = opened;
  const entries = Array.from({ length: 50 }, (_, number) => ({
    userId: "ada",
    conversationId: `c${number % 5}`,
    usages: [usage(0.5)],
  }));
  await Promise.all(entries.map((entry) => ledger.record(entry)));
  expect(await ledger.spentToday("ada")).toBe(25);
  expect((await ledger.report("ada", 1)).conversations.map(({ calls }) => calls)).toEqual([
    10, 10, 10, 10, 10,
  ]);
});

test("P48: calls at another server count, until they end or their server is gone", async () => {
  await using opened = await openGuard(1);
  const { clock, nodes, guard, openOther, ledger } = opened;
  nodes.add("there");
  const other = openOther("there");
  const far = await other.admit(purchase({ conversationId: "d" }), signal);
  const near = guard.admit(purchase(), signal);
  expect(await Promise.race([near, ledger.spentToday("ada").then(() => "waits")])).toBe("waits");
  if (far.type === "admitted") far.release();
  const admitted = await near;
  expect(admitted).toMatchObject({ type: "admitted" });

  // The server of the call is killed: what it held counts for a moment more, as that of one that nobody knows yet.
  const last = other.admit(purchase({ conversationId: "d" }), signal);
  nodes.delete("here");
  clock.nowMs += 60_000;
  expect(await last).toMatchObject({ type: "admitted" });
});

test("P48: of calls that begin at several servers at once as many as fit begin", async () => {
  await using opened = await openGuard(1);
  const { nodes, openOther } = opened;
  const stop = new AbortController();
  const guards = Array.from({ length: 6 }, (_, number) => {
    nodes.add(`node-${number}`);
    return openOther(`node-${number}`);
  });
  let admitted = 0;
  const asked = guards.map((each) =>
    each.admit(purchase({ maxCost: 0.4 }), stop.signal).then(({ type }) => {
      if (type === "admitted") admitted += 1;
      // Those that still wait have looked again by the time the third was let in.
      if (admitted === 3) stop.abort();
      return type;
    }),
  );
  expect((await Promise.all(asked)).toSorted()).toEqual([
    "aborted",
    "aborted",
    "aborted",
    "admitted",
    "admitted",
    "admitted",
  ]);
});

test("P48: a budget hold whose commit was not acknowledged is released", async () => {
  await using opened = await openGuard(1);
  let isCut = true;
  const database = withMethods(opened.database, {
    transaction: async (work) => {
      const result = await opened.database.transaction(work);
      if (isCut) throw new DatabaseUnavailableError("The line broke behind the commit");
      return result;
    },
  });
  const { ledger, guard } = opened;
  const cut = new BudgetGuard(ledger, opened.holdsOf("here", database));
  await expect(cut.admit(purchase(), signal)).rejects.toThrow(DatabaseUnavailableError);
  isCut = false;
  expect(await guard.admit(purchase(), signal)).toMatchObject({ type: "admitted" });
});
