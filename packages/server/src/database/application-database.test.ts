import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openApplicationDatabase } from "./application-database.ts";

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "convoke-database-"));
});
afterEach(async () => {
  await rm(dataDir, { recursive: true, force: true });
});

test("several processes may open a new folder at once; what one writes the other finds, and its mark moves", async () => {
  const opened = await Promise.all([1, 2, 3, 4].map(() => openApplicationDatabase(dataDir)));
  const [one, other] = opened;
  const before = other!.changeMark();
  expect(other!.changeMark()).toBe(before);
  await one!.tables.insertInto("users").values({ id: "ada", created_at: 5 }).execute();
  expect(other!.changeMark()).not.toBe(before);
  expect(other!.readNow(other!.tables.selectFrom("users").selectAll())).toEqual([
    { id: "ada", created_at: 5 },
  ]);
  for (const database of opened) await database[Symbol.asyncDispose]();
});

test("its own writes move the mark as well, and what was written is there after opening again", async () => {
  {
    await using database = await openApplicationDatabase(dataDir);
    const before = database.changeMark();
    await database.tables.insertInto("users").values({ id: "ada", created_at: 5 }).execute();
    expect(database.changeMark()).not.toBe(before);
  }
  await using database = await openApplicationDatabase(dataDir);
  expect(await database.tables.selectFrom("users").select("id").execute()).toEqual([{ id: "ada" }]);
});

test("P13: only its owner can read the files", async () => {
  await using database = await openApplicationDatabase(dataDir);
  await database.tables.insertInto("users").values({ id: "ada", created_at: 5 }).execute();
  const files = await readdir(dataDir);
  expect(files.length).toBeGreaterThan(1);
  for (const file of files) expect((await stat(join(dataDir, file))).mode & 0o777).toBe(0o600);
});

test("a transaction that fails leaves nothing", async () => {
  await using database = await openApplicationDatabase(dataDir);
  const failing = database.tables.transaction().execute(async (tables) => {
    await tables.insertInto("users").values({ id: "ada", created_at: 5 }).execute();
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(await database.tables.selectFrom("users").selectAll().execute()).toEqual([]);
});
