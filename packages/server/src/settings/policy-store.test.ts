import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { openTestDatabase, whenSeen } from "../testing/test-database.ts";
import { PolicyStore } from "./policy-store.ts";

const clock = { nowMs: () => 1 };

test("a user's own field wins over that of all users, on every node", async () => {
  await using folder = await openTemporaryDirectory();
  await using database = await openTestDatabase(folder.path);
  await using otherDatabase = await openTestDatabase(folder.path);
  const one = await PolicyStore.open({ database, clock });
  const other = await PolicyStore.open({ database: otherDatabase, clock });
  expect(one.of("ada")).toEqual({});
  await one.change("*", () => ({ conversations: 10, may_turn_off: false }));
  const ada = await other.change("ada", (before) => ({ ...before, conversations: 50, running_walls: null }));
  expect(ada).toEqual({ conversations: 50 });
  await whenSeen(() => expect(one.of("ada")).toEqual({ conversations: 50, may_turn_off: false }));
  await whenSeen(() => expect(other.of("bob")).toEqual({ conversations: 10, may_turn_off: false }));
  expect(await one.list()).toEqual([
    { userId: "*", policy: { conversations: 10, may_turn_off: false } },
    { userId: "ada", policy: { conversations: 50 } },
  ]);
});

test("a policy without fields is removed", async () => {
  await using folder = await openTemporaryDirectory();
  await using database = await openTestDatabase(folder.path);
  const store = await PolicyStore.open({ database, clock });
  await store.change("ada", () => ({ running_walls: 2 }));
  expect(await store.change("ada", (before) => ({ ...before, running_walls: null }))).toEqual({});
  expect(await store.list()).toEqual([]);
});
