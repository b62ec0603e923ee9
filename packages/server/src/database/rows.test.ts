import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { openTestDatabase } from "../testing/test-database.ts";
import { addRow, changeRows, putRow, removalBeyond, removeRows, rowsWith } from "./rows.ts";

const chat = (digest: string, updatedAt: number) => ({
  user_id: "ada",
  digest,
  conversation_id: `of ${digest}`,
  updated_at: updatedAt,
});

test("rows are stored by their keys, found by values and lists of them, changed and removed", async () => {
  await using folder = await openTemporaryDirectory();
  await using database = await openTestDatabase(folder.path);
  const { tables } = database;
  for (const [digest, at] of Object.entries({ a: 1, b: 2, c: 3 }))
    await putRow(tables, "chats", chat(digest, at));
  await putRow(tables, "chats", { ...chat("b", 9), conversation_id: "another" });
  const found = await rowsWith(tables, "chats", { user_id: "ada", digest: ["b", "c", "z"] })
    .orderBy("digest")
    .execute();
  expect(found).toEqual([{ ...chat("b", 9), conversation_id: "another" }, chat("c", 3)]);
  expect(await rowsWith(tables, "chats", { user_id: "bob" }).executeTakeFirst()).toBeUndefined();
  expect(await rowsWith(tables, "chats", { digest: [] }).execute()).toEqual([]);
  expect(await removeRows(tables, "chats", { digest: [] })).toBe(0);
  expect(await changeRows(tables, "chats", { digest: "c" }, { updated_at: 7 })).toBe(1);
  expect(await changeRows(tables, "chats", { digest: "z" }, { updated_at: 7 })).toBe(0);
  expect(await removeRows(tables, "chats", { user_id: "ada", updated_at: [7, 9] })).toBe(2);
  expect(await rowsWith(tables, "chats", {}).execute()).toEqual([chat("a", 1)]);
  await tables
    .insertInto("users")
    .values([{ id: "ada", created_at: 5 }])
    .execute();
  expect(await changeRows(tables, "users", { disabled_at: null }, { disabled_at: 6 })).toBe(1);
  expect(await changeRows(tables, "users", { disabled_at: null }, { disabled_at: 7 })).toBe(0);
});

test("a row is added once, and those beyond a number are removed, of equal ones the lower keys", async () => {
  await using folder = await openTemporaryDirectory();
  await using database = await openTestDatabase(folder.path);
  const { tables } = database;
  expect(await addRow(tables, "chats", chat("a", 9))).toBe(true);
  expect(await addRow(tables, "chats", chat("a", 1))).toBe(false);
  for (const digest of ["b", "c", "d"]) await addRow(tables, "chats", chat(digest, 5));
  await addRow(tables, "chats", { ...chat("e", 1), user_id: "bob" });
  const left = async (max: number): Promise<string[]> => {
    await removalBeyond(tables, "chats", { user_id: "ada" }, { column: "updated_at", max }).execute();
    const rows = await rowsWith(tables, "chats", {}).orderBy("digest").execute();
    return rows.map(({ digest }) => digest);
  };
  expect(await left(4)).toEqual(["a", "b", "c", "d", "e"]);
  expect(await left(2)).toEqual(["a", "d", "e"]);
});
