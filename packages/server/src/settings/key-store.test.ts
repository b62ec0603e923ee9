import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openTestDatabase, testedStore, whenSeen } from "../testing/test-database.ts";
import { silentLogger } from "../lib/logger.ts";
import { KeyBook, UserNameError } from "./key-store.ts";

let dataDir: string;
let nowMs = 0;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "convoke-keys-"));
  nowMs = 1_000_000;
});
afterEach(async () => {
  await rm(dataDir, { recursive: true, force: true });
});

async function openBook(): Promise<{ book: KeyBook } & AsyncDisposable> {
  const database = await openTestDatabase(dataDir);
  const book = await KeyBook.open({ database, nowMs: () => nowMs, logger: silentLogger });
  return {
    book,
    async [Symbol.asyncDispose]() {
      await book[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

test("a key that another process makes works at once, and one that it revokes stops at once", async () => {
  await using server = await openBook();
  await using command = await openBook();
  expect(server.book.find("convoke_nothing")).toBeNull();
  const { key, entry } = await command.book.create("ada", "laptop");
  await whenSeen(() => expect(server.book.find(key)?.userId).toBe("ada"));
  expect(server.book.isUsable(entry.id)).toBe(true);
  expect(await command.book.revoke(entry.id)).toBe(true);
  await whenSeen(() => expect(server.book.isUsable(entry.id)).toBe(false));
  expect(server.book.find(key)).toBeNull();
  expect(await command.book.revoke(entry.id)).toBe(false);
  expect(await command.book.revoke("nonsense")).toBe(false);
});

test("the last use is noted once a minute", async () => {
  await using opened = await openBook();
  const { book } = opened;
  const { key, entry } = await book.create("local", "");
  expect((await book.list())[0]).toEqual(entry);
  for (const atMs of [1_000_000, 1_030_000, 1_060_000]) {
    nowMs = atMs;
    expect(book.find(key)?.userId).toBe("local");
    await book[Symbol.asyncDispose]();
    expect((await book.list())[0]?.lastUsedAtMs).toBe(atMs === 1_030_000 ? 1_000_000 : atMs);
  }
});

test.runIf(testedStore === "sqlite")("P13: no file holds a key", async () => {
  await using opened = await openBook();
  const { key } = await opened.book.create("ada", "laptop");
  const files = await readdir(dataDir);
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) expect(await readFile(join(dataDir, file), "latin1")).not.toContain(key);
});

test.each(["", "-ada", "ada lovelace", "a".repeat(65), "../ada"])("%j is no user name", async (name) => {
  await using opened = await openBook();
  await expect(opened.book.create(name, "")).rejects.toThrow(UserNameError);
});
