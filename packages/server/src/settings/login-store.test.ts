import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ApplicationDatabase } from "../database/application-database.ts";
import { openTestDatabase, whenSeen } from "../testing/test-database.ts";
import { silentLogger } from "../lib/logger.ts";
import { KeyStore } from "./key-store.ts";
import { LoginStore, markOfKey, type LoginOwner } from "./login-store.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;
const browser = { client: "Firefox", address: "127.0.0.1" };
const local: LoginOwner = { userId: "local", keyMark: "" };

let dataDir: string;
let nowMs = 0;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "convoke-logins-"));
  nowMs = 1_000_000_000;
});
afterEach(async () => {
  await rm(dataDir, { recursive: true, force: true });
});

type Opened = { readonly store: LoginStore; readonly database: ApplicationDatabase } & AsyncDisposable;

async function openStore(keyMarks: readonly string[] = []): Promise<Opened> {
  const database = await openTestDatabase(dataDir);
  const store = await LoginStore.open({
    database,
    clock: { nowMs: () => nowMs },
    logger: silentLogger,
    keyMarks,
  });
  return {
    store,
    database,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

test("a ticket works once, for ten minutes, in every process on the folder", async () => {
  await using server = await openStore();
  await using command = await openStore();
  const { ticket, endsAtMs } = await command.store.createTicket({ ...local, keyId: "k1" });
  expect(endsAtMs - nowMs).toBe(10 * minuteMs);
  expect(await server.store.redeem("nonsense")).toBeNull();
  expect(await server.store.redeem(ticket)).toEqual({ ...local, keyId: "k1" });
  expect(await server.store.redeem(ticket)).toBeNull();
  const late = await command.store.createTicket(local);
  nowMs += 10 * minuteMs;
  expect(await server.store.redeem(late.ticket)).toBeNull();
});

test("of two concurrent uses of a ticket one succeeds", async () => {
  await using server = await openStore();
  await using other = await openStore();
  const { ticket } = await server.store.createTicket(local);
  const found = await Promise.all([server.store.redeem(ticket), other.store.redeem(ticket)]);
  expect(found.filter((owner) => owner !== null)).toHaveLength(1);
});

test("U21: neither half of a login is usable without the other", async () => {
  await using opened = await openStore();
  const { store } = opened;
  const one = await store.create(local, browser);
  const other = await store.create(local, browser);
  expect(store.find(one)).toMatchObject({ id: one.id, userId: "local" });
  expect(store.find({ cookie: one.cookie, proof: other.proof })).toBeNull();
  expect(store.find({ cookie: one.proof, proof: one.cookie })).toBeNull();
  expect(store.find({ cookie: "", proof: "" })).toBeNull();
});

test("a login ends when it is unused for thirty days", async () => {
  await using opened = await openStore();
  const { store } = opened;
  const used = await store.create(local, browser);
  const idle = await store.create(local, browser);
  nowMs += 29 * dayMs;
  expect(store.find(used)).not.toBeNull();
  await store[Symbol.asyncDispose]();
  nowMs += 2 * dayMs;
  expect(store.find(used)).not.toBeNull();
  expect(store.find(idle)).toBeNull();
  expect(store.isUsable(idle.id)).toBe(false);
  expect((await store.list("local")).map(({ id }) => id)).toEqual([used.id]);
});

test("a configured key takes its logins and tickets along", async () => {
  const mark = markOfKey("first");
  const owner = { ...local, keyMark: mark };
  let halves;
  let ticket;
  {
    await using before = await openStore([mark, markOfKey("second")]);
    halves = await before.store.create(owner, browser);
    ({ ticket } = await before.store.createTicket(owner));
    expect(before.store.find(halves)).toMatchObject({ keyMark: mark });
    expect(before.store.keyMarkOf(halves.id)).toBe(mark);
  }
  await using after = await openStore([markOfKey("second")]);
  expect(after.store.find(halves)).toBeNull();
  expect(await after.store.redeem(ticket)).toBeNull();
});

test("logins end one by one and all at once, in every process, and only one's own", async () => {
  await using server = await openStore();
  await using command = await openStore();
  const [first, second, third] = [
    await server.store.create(local, browser),
    await server.store.create(local, browser),
    await server.store.create({ userId: "ada", keyMark: "" }, browser),
  ];
  expect(await command.store.end("ada", first.id)).toBe(false);
  expect(await command.store.end("local", first.id)).toBe(true);
  await whenSeen(() => expect(server.store.find(first)).toBeNull());
  const { ticket } = await server.store.createTicket(local);
  await command.store.endAll("local");
  await whenSeen(() => expect(server.store.isUsable(second.id)).toBe(false));
  expect(await server.store.redeem(ticket)).toBeNull();
  expect(server.store.find(third)).not.toBeNull();
});

test("a user has at most a hundred logins, the most recently used", async () => {
  await using opened = await openStore();
  const { store } = opened;
  const first = await store.create(local, browser);
  for (let count = 0; count < 100; count++) {
    nowMs += 1;
    await store.create(local, browser);
  }
  expect(await store.list("local")).toHaveLength(100);
  expect(store.find(first)).toBeNull();
});

test("P13: no file holds a ticket, or a half of a login", async () => {
  await using opened = await openStore();
  const { ticket } = await opened.store.createTicket(local);
  const { cookie, proof } = await opened.store.create(local, browser);
  for (const file of await readdir(dataDir)) {
    const text = await readFile(join(dataDir, file), "latin1");
    for (const secret of [ticket, cookie, proof]) expect(text).not.toContain(secret);
  }
});

test("a login ends with its key at the latest", async () => {
  await using opened = await openStore();
  const { store, database } = opened;
  await using keys = await KeyStore.open({ database, clock: { nowMs: () => nowMs }, logger: silentLogger });
  const short = await keys.create("local", "", { expiresAtMs: nowMs + dayMs });
  const endless = await keys.create("local", "");
  const ends: number[] = [];
  for (const { entry } of [short, endless])
    ends.push((await store.create({ ...local, keyId: entry.id }, browser)).endsAtMs - nowMs);
  expect(ends).toEqual([dayMs, 30 * dayMs]);
  const listed = async () => new Set((await store.list("local")).map(({ endsAtMs }) => endsAtMs));
  expect(await listed()).toEqual(new Set(ends.map((end) => nowMs + end)));
  nowMs += dayMs;
  expect(await listed()).toEqual(new Set([nowMs + 29 * dayMs]));
});

test("a login with a last end is not prolonged by use, and neither is one that its ticket makes", async () => {
  await using opened = await openStore();
  const { store } = opened;
  const endsAtMs = nowMs + 12 * 60 * minuteMs;
  const { ticket } = await store.createTicket({ ...local, endsAtMs });
  const owner = await store.redeem(ticket);
  expect(owner).toEqual({ ...local, endsAtMs });
  const login = await store.create(owner!, browser);
  expect(login.endsAtMs).toBe(endsAtMs);
  nowMs += 11 * 60 * minuteMs;
  expect(store.find(login)).not.toBeNull();
  expect(store.lastEndOf(login.id)).toBe(endsAtMs);
  await store[Symbol.asyncDispose]();
  expect((await store.list("local")).map((view) => view.endsAtMs)).toEqual([endsAtMs]);
  nowMs = endsAtMs;
  expect(store.find(login)).toBeNull();
  expect(store.isUsable(login.id)).toBe(false);
  expect(await store.list("local")).toEqual([]);
});

test("a login whose key was revoked, or is not there, is not listed", async () => {
  await using opened = await openStore();
  const { store, database } = opened;
  await using keys = await KeyStore.open({ database, clock: { nowMs: () => nowMs }, logger: silentLogger });
  const [revoked, usable] = [await keys.create("local", ""), await keys.create("local", "")];
  for (const keyId of [revoked.entry.id, "gone"]) await store.create({ ...local, keyId }, browser);
  const live = await store.create({ ...local, keyId: usable.entry.id }, browser);
  await keys.revoke(revoked.entry.id);
  expect((await store.list("local")).map(({ id }) => id)).toEqual([live.id]);
});
