import type { Transaction } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPostgresApplicationDatabase } from "../database/postgres/postgres-application-database.ts";
import type { Tables } from "../database/tables.ts";
import { DatabaseUnavailableError } from "../lib/database-unavailable.ts";
import { silentLogger } from "../lib/logger.ts";
import { withMethods } from "../testing/with-methods.ts";
import { probePostgres, startPostgres, type TestPostgres } from "../testing/start-postgres.ts";
import { Ledger } from "./ledger.ts";

const probe = probePostgres();
const tokens = { promptTokens: 1, completionTokens: 1, reasoningTokens: 0 };
const usage = { ...tokens, cacheReadTokens: 0, cacheWriteTokens: 0, contextWindow: 1, cost: 0.25 };
const entry = { userId: "ada", conversationId: "c", usages: [usage] };

type Work = (tables: Transaction<Tables>) => Promise<void>;

describe.skipIf(!probe.isUsable)(`the ledger on PostgreSQL (${probe.detail})`, { timeout: 120_000 }, () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  /** Its first commit is not answered, and ends as `cut` has it. */
  async function openLedger(cut: (work: Work, commit: (work: Work) => Promise<void>) => Promise<void>) {
    const database = await openPostgresApplicationDatabase(await server.createDatabase(), silentLogger);
    let isCut = false;
    const cutOnce = withMethods(database, {
      commitSoon: async (work) => {
        if (isCut) return await database.commitSoon(work);
        isCut = true;
        await cut(work, (all) => database.commitSoon(all));
        throw new DatabaseUnavailableError("The line broke under the commit");
      },
    });
    const deps = { maxPerDay: null, clock: { nowMs: () => Date.now() }, logger: silentLogger };
    return {
      database,
      ledger: await Ledger.open({ database: cutOnce, ...deps }),
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  }

  test("P48: an entry whose commit succeeded but was not acknowledged is counted once", async () => {
    await using opened = await openLedger((work, commit) => commit(work));
    const { ledger } = opened;
    await ledger.record(entry);
    await ledger.record(entry);
    expect(await ledger.spentIn("c")).toBe(0.5);
  });

  test("P48: an entry whose commit failed and was not acknowledged is stored again", async () => {
    await using opened = await openLedger(async (work, commit) => {
      const undone = new Error("undone");
      const undoing = commit(async (tables) => {
        await work(tables);
        throw undone;
      });
      await expect(undoing).rejects.toBe(undone);
    });
    const { ledger } = opened;
    await ledger.record(entry);
    await ledger.record(entry);
    expect(await ledger.spentIn("c")).toBe(0.5);
    expect((await ledger.report("ada", 2)).cost).toBe(0.5);
  });

  test("P48: while a transaction is open that was not answered nothing is stored again", async () => {
    const going = Promise.withResolvers<void>();
    const ends: Promise<void>[] = [];
    await using opened = await openLedger(async (work, commit) => {
      const worked = Promise.withResolvers<void>();
      ends.push(
        commit(async (tables) => {
          await work(tables);
          worked.resolve();
          await going.promise;
        }),
      );
      await worked.promise;
    });
    const { ledger } = opened;
    await ledger.record(entry);
    await ledger.record(entry);
    expect(await ledger.spentIn("c")).toBe(0.5);
    going.resolve();
    await Promise.all(ends);
    // Nobody books any more: the ledger asks by itself.
    await expect.poll(async () => (await ledger.report("ada", 2)).cost, { timeout: 60_000 }).toBe(0.5);
    expect(await ledger.spentIn("c")).toBe(0.5);
  });
});
