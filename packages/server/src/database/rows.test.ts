import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { openTestDatabase } from "../testing/test-database.ts";
import { changeRows, putRow, removeRows, rowsWith } from "./rows.ts";

test("rows are stored by their keys, found by values and lists of them, changed and removed", async () => {
  await using folder = await openTemporaryDirectory();
  await using database = await openTestDatabase(folder.path);
  const { tables } = database;
  const chat = (digest: string, updatedAt: number) => ({
    user_id: "ada",
    digest,
    conversation_id: `of ${digest}`,
    updated_at: updatedAt,
  });
  for (const [digest, at] of Object.entries({ a: 1, b: 2, c: 3 }))
    await putRow(tables, "chats", chat(digest, at));
  await putRow(tables, "chats", { ...chat("b", 9), conversation_id: "another" });
  const found = await rowsWith(tables, "chats", { user_id: "ada", digest: ["b", "c", "z"] })
    .orderBy("digest")
    .execute();
  expect(found).toEqual([{ ...chat("b", 9), conversation_id: "another" }, chat("c", 3)]);
  expect(await rowsWith(tables, "chats", { user_id: "bob" }).executeTakeFirst()).toBeUndefined();
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
