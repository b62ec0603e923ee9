import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { openTestDatabase, testedStore } from "../testing/test-database.ts";
import type { ApplicationDatabase } from "./application-database.ts";

/** Two processes with one store, as far as one process can have them. */
async function openTwo(): Promise<
  { one: ApplicationDatabase; other: ApplicationDatabase } & AsyncDisposable
> {
  await using scope = new AsyncDisposableStack();
  const folder = scope.use(await openTemporaryDirectory());
  const [one, other] = await Promise.all([openTestDatabase(folder.path), openTestDatabase(folder.path)]);
  scope.use(one);
  scope.use(other);
  const owned = scope.move();
  return { one, other, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const key = (id: string) => ({ id, user_id: "ada", digest: `digest of ${id}`, label: "", created_at: 5 });

test("two may open a new store at once; what one writes the other reads", async () => {
  await using both = await openTwo();
  await both.one.tables.insertInto("users").values({ id: "ada", created_at: 5 }).execute();
  const query = both.other.tables.selectFrom("users").selectAll();
  expect(await both.other.read(query)).toEqual([
    { id: "ada", created_at: 5, role: "member", disabled_at: null },
  ]);
});

test("live rows are the same array while nothing is written, and have what others write", async () => {
  await using both = await openTwo();
  const { one, other } = both;
  await one.tables.insertInto("users").values({ id: "ada", created_at: 5 }).execute();
  const keys = await other.live("keys", other.tables.selectFrom("keys").select("id").orderBy("id"));
  expect(keys.now()).toEqual([]);
  expect(keys.now()).toBe(keys.now());
  await one.tables.insertInto("keys").values(key("a")).execute();
  await expect.poll(() => keys.now()).toEqual([{ id: "a" }]);
  await other.tables.insertInto("keys").values(key("b")).execute();
  await keys.refresh();
  expect(keys.now()).toEqual([{ id: "a" }, { id: "b" }]);
  await other.tables.updateTable("keys").set({ revoked_at: 7 }).where("id", "=", "a").execute();
  await other.tables.deleteFrom("keys").where("id", "=", "b").execute();
  await keys.refresh();
  expect(keys.now()).toEqual([{ id: "a" }]);
});

test("a transaction that fails leaves nothing", async () => {
  await using both = await openTwo();
  const { one } = both;
  const failing = one.transaction(async (tables) => {
    await tables.insertInto("users").values({ id: "ada", created_at: 5 }).execute();
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(await one.read(one.tables.selectFrom("users").selectAll())).toEqual([]);
});

test("what was read in a transaction may decide what is written, whoever else does the same", async () => {
  await using both = await openTwo();
  const add = async (database: ApplicationDatabase): Promise<void> => {
    await database.transaction(async (tables) => {
      const rows = await tables.selectFrom("users").select("id").execute();
      await tables
        .insertInto("users")
        .values({ id: `user ${rows.length}`, created_at: rows.length })
        .execute();
    });
  };
  // SQLite's lock is waited for by the whole thread, which then cannot end what it waits for.
  const second = testedStore === "sqlite" ? both.one : both.other;
  const adding = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? both.one : second));
  await Promise.all(adding.map(add));
  const { count } = await both.one.tables
    .selectFrom("users")
    .select((select) => select.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  expect(count).toBe(20);
});

test("money, large numbers and the order of texts are what was written", async () => {
  await using both = await openTwo();
  const { one, other } = both;
  const line = {
    user_id: "ada",
    day: "2026-01-01",
    calls: 1,
    prompt_tokens: 3_000_000_000,
    completion_tokens: 1,
  };
  const costs = [3_703_703.77, 0.1, 0.2, 0.000_001];
  for (const [index, cost] of costs.entries())
    await one.commitSoon(async (tables) => {
      await tables
        .insertInto("spend_days")
        .values({ ...line, conversation_id: ["A_ab", "_aAb", "a", "Z"][index]!, cost })
        .execute();
    });
  await one.untilDurable();
  const sums = other.tables
    .selectFrom("spend_days")
    .select((select) => [
      select.fn.sum<number>("cost").as("cost"),
      select.fn.sum<number>("prompt_tokens").as("tokens"),
    ]);
  const [sum] = await other.read(sums);
  expect(sum!.cost).toBeCloseTo(3_703_704.070_001, 6);
  expect(sum!.tokens).toBe(12_000_000_000);
  const order = await other.read(
    other.tables.selectFrom("spend_days").select("conversation_id").orderBy("conversation_id"),
  );
  expect(order.map((row) => row.conversation_id)).toEqual(["A_ab", "Z", "_aAb", "a"]);
});

test("a number that the store gives grows", async () => {
  await using both = await openTwo();
  const message = (id: string) => ({ id, conversation_id: "c", message: "{}" });
  for (const [index, database] of [both.one, both.other, both.one].entries())
    await database.tables
      .insertInto("pending_messages")
      .values(message(`m${index}`))
      .execute();
  const rows = await both.one.read(
    both.one.tables.selectFrom("pending_messages").select(["id", "number"]).orderBy("number"),
  );
  expect(rows.map(({ id }) => id)).toEqual(["m0", "m1", "m2"]);
});
