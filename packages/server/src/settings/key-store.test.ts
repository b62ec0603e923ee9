import { hash } from "node:crypto";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ApplicationDatabase } from "../database/application-database.ts";
import { openTestDatabase, testedStore, whenSeen } from "../testing/test-database.ts";
import { silentLogger } from "../lib/logger.ts";
import { KeyStore, UserNameError } from "./key-store.ts";
import { FixedRoleError } from "./user-store.ts";

let dataDir: string;
let nowMs = 0;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "convoke-keys-"));
  nowMs = 1_000_000;
});
afterEach(async () => {
  await rm(dataDir, { recursive: true, force: true });
});

type Opened = { readonly store: KeyStore; readonly database: ApplicationDatabase } & AsyncDisposable;

async function openStore(): Promise<Opened> {
  const database = await openTestDatabase(dataDir);
  const store = await KeyStore.open({ database, clock: { nowMs: () => nowMs }, logger: silentLogger });
  return {
    store,
    database,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

test("a key that another process makes works at once, and one that it revokes stops at once", async () => {
  await using server = await openStore();
  await using command = await openStore();
  expect(server.store.find("convoke_nothing")).toBeNull();
  const { key, entry } = await command.store.create("ada", "laptop");
  await whenSeen(() => expect(server.store.find(key)?.userId).toBe("ada"));
  expect(server.store.get(entry.id)?.userId).toBe("ada");
  expect(await command.store.revoke(entry.id)).toBe(true);
  await whenSeen(() => expect(server.store.get(entry.id)).toBeNull());
  expect(server.store.find(key)).toBeNull();
  expect(await command.store.revoke(entry.id)).toBe(false);
  expect(await command.store.revoke("nonsense")).toBe(false);
});

test("the last use is noted once a minute", async () => {
  await using opened = await openStore();
  const { store } = opened;
  const { key, entry } = await store.create("local", "");
  expect((await store.list())[0]).toEqual(entry);
  for (const atMs of [1_000_000, 1_030_000, 1_060_000]) {
    nowMs = atMs;
    expect(store.find(key)?.userId).toBe("local");
    await store[Symbol.asyncDispose]();
    expect((await store.list())[0]?.lastUsedAtMs).toBe(atMs === 1_030_000 ? 1_000_000 : atMs);
  }
});

test("a key is refused from its end on, and stays in the list", async () => {
  await using server = await openStore();
  await using command = await openStore();
  const { key, entry } = await command.store.create("ada", "", { expiresAtMs: nowMs + 1_000 });
  await whenSeen(() => expect(server.store.find(key)?.userId).toBe("ada"));
  nowMs += 999;
  expect(server.store.get(entry.id)?.userId).toBe("ada");
  nowMs += 1;
  expect(server.store.find(key)).toBeNull();
  expect(server.store.get(entry.id)).toBeNull();
  expect(await server.store.list()).toMatchObject([{ id: entry.id, expiresAtMs: 1_001_000 }]);
});

test("a key has at most the role of its user, which another process may change", async () => {
  await using server = await openStore();
  await using command = await openStore();
  const ada = await command.store.create("ada", "");
  const local = await command.store.create("local", "", { role: "member" });
  const reader = await command.store.create("local", "", { scope: { read_only: true } });
  const roleOf = (key: string) => server.store.find(key)?.role;
  await whenSeen(() => expect([ada, local, reader].map(({ key }) => roleOf(key))).toEqual(roles));
  expect((await server.store.list()).map(({ role }) => role).toSorted()).toEqual(roles.toSorted());
  expect(await command.store.users.setRole("ada", "viewer")).toBe(true);
  await whenSeen(() => expect(roleOf(ada.key)).toBe("viewer"));
  expect(await command.store.users.setRole("nobody", "viewer")).toBe(false);
  await expect(command.store.users.setRole("local", "viewer")).rejects.toThrow(FixedRoleError);
  expect(await server.store.users.list()).toMatchObject([
    { id: "ada", role: "viewer" },
    { id: "local", role: "admin" },
  ]);
});

const roles = ["member", "member", "viewer"];

async function createStored(
  { store, database }: Opened,
  stored: { readonly role?: string; readonly scope?: string },
): Promise<string> {
  const { key, entry } = await store.create("ada", "");
  const row = { id: entry.id, user_id: "ada", digest: hash("sha256", key), label: "", created_at: 1 };
  await database.transaction(async (tables) => {
    await tables.deleteFrom("keys").where("id", "=", entry.id).execute();
    await tables
      .insertInto("keys")
      .values({ ...row, ...stored })
      .execute();
  });
  return key;
}

test("a role that this release does not know is that of a viewer", async () => {
  await using opened = await openStore();
  const key = await createStored(opened, { role: "auditor" });
  await whenSeen(() => expect(opened.store.find(key)).toMatchObject({ role: "viewer" }));
});

test.each([
  '{"folder":"/srv"}',
  '{"read_only":true,"folder":"/srv"}',
  '{"conversation":["0198c0de-0000-7000-8000-000000000000"]}',
  '{"conversation":"all"}',
  '{"conversation":null,"read_only":true}',
  '{"read_only":"yes"}',
  '{"read_only":false}',
  '{"read_only":true,"share":{}}',
  '{"conversation":"0198c0de-0000-7000-8000-000000000000","share":{}}',
  '{"conversation":"0198c0de-0000-7000-8000-000000000000","read_only":true,"share":{"until":1}}',
  '{"conversation":"0198c0de-0000-7000-8000-000000000000","read_only":true,"share":{"up_to":{"eventId":"a"}}}',
  "{}",
  "[]",
  "5",
  "null",
  '{"conversation":"0198c',
  "",
])("a key with the stored scope %s is refused, other keys are not, and it can be revoked", async (scope) => {
  await using opened = await openStore();
  const { store } = opened;
  const key = await createStored(opened, { scope });
  const other = await store.create("ada", "");
  await whenSeen(() => expect(store.find(key)).toBeNull());
  expect(store.find(other.key)).toMatchObject({ role: "member" });
  const listed = (await store.list()).find(({ id }) => id !== other.entry.id);
  expect(listed).toMatchObject({ role: "viewer", scope: { read_only: true } });
  expect(listed?.scope?.conversation).toMatch(/^[0-]+$/);
  expect(store.get(listed!.id)).toBeNull();
  expect(await store.revoke(listed!.id)).toBe(true);
});

test.runIf(testedStore === "sqlite")("P13: no file holds a key", async () => {
  await using opened = await openStore();
  const { key } = await opened.store.create("ada", "laptop");
  const files = await readdir(dataDir);
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) expect(await readFile(join(dataDir, file), "latin1")).not.toContain(key);
});

test.each(["", "-ada", "ada lovelace", "a".repeat(65), "../ada"])("%j is no user name", async (name) => {
  await using opened = await openStore();
  await expect(opened.store.create(name, "")).rejects.toThrow(UserNameError);
});
