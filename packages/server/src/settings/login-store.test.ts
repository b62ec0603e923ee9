import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openTestDatabase, whenSeen } from "../testing/test-database.ts";
import { silentLogger } from "../lib/logger.ts";
import { LoginBook, markOfKey, type LoginOwner } from "./login-store.ts";

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

async function openBook(keyMarks: readonly string[] = []): Promise<{ book: LoginBook } & AsyncDisposable> {
  const database = await openTestDatabase(dataDir);
  const book = await LoginBook.open({ database, nowMs: () => nowMs, logger: silentLogger, keyMarks });
  return {
    book,
    async [Symbol.asyncDispose]() {
      await book[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

test("a ticket works once, for ten minutes, in every process on the folder", async () => {
  await using server = await openBook();
  await using command = await openBook();
  const { ticket, endsAtMs } = await command.book.createTicket({ ...local, keyId: "k1" });
  expect(endsAtMs - nowMs).toBe(10 * minuteMs);
  expect(await server.book.redeem("nonsense")).toBeNull();
  expect(await server.book.redeem(ticket)).toEqual({ ...local, keyId: "k1" });
  expect(await server.book.redeem(ticket)).toBeNull();
  const late = await command.book.createTicket(local);
  nowMs += 10 * minuteMs;
  expect(await server.book.redeem(late.ticket)).toBeNull();
});

test("of two that redeem a ticket at once one gets it", async () => {
  await using server = await openBook();
  await using other = await openBook();
  const { ticket } = await server.book.createTicket(local);
  const found = await Promise.all([server.book.redeem(ticket), other.book.redeem(ticket)]);
  expect(found.filter((owner) => owner !== null)).toHaveLength(1);
});

test("U21: neither half of a login is anything without the other", async () => {
  await using opened = await openBook();
  const { book } = opened;
  const one = await book.create(local, browser);
  const other = await book.create(local, browser);
  expect(book.find(one)).toMatchObject({ id: one.id, userId: "local" });
  expect(book.find({ cookie: one.cookie, proof: other.proof })).toBeNull();
  expect(book.find({ cookie: one.proof, proof: one.cookie })).toBeNull();
  expect(book.find({ cookie: "", proof: "" })).toBeNull();
});

test("a login that is not used for thirty days is over; use makes it last", async () => {
  await using opened = await openBook();
  const { book } = opened;
  const used = await book.create(local, browser);
  const idle = await book.create(local, browser);
  nowMs += 29 * dayMs;
  expect(book.find(used)).not.toBeNull();
  await book[Symbol.asyncDispose]();
  nowMs += 2 * dayMs;
  expect(book.find(used)).not.toBeNull();
  expect(book.find(idle)).toBeNull();
  expect(book.isUsable(idle.id)).toBe(false);
  expect((await book.list("local")).map(({ id }) => id)).toEqual([used.id]);
});

test("a configured key takes its logins and tickets along", async () => {
  const mark = markOfKey("first");
  const owner = { ...local, keyMark: mark };
  let halves;
  let ticket;
  {
    await using before = await openBook([mark, markOfKey("second")]);
    halves = await before.book.create(owner, browser);
    ({ ticket } = await before.book.createTicket(owner));
    expect(before.book.find(halves)).toMatchObject({ keyMark: mark });
    expect(before.book.keyMarkOf(halves.id)).toBe(mark);
  }
  await using after = await openBook([markOfKey("second")]);
  expect(after.book.find(halves)).toBeNull();
  expect(await after.book.redeem(ticket)).toBeNull();
});

test("logins end one by one and all at once, in every process, and only one's own", async () => {
  await using server = await openBook();
  await using command = await openBook();
  const [first, second, third] = [
    await server.book.create(local, browser),
    await server.book.create(local, browser),
    await server.book.create({ userId: "ada", keyMark: "" }, browser),
  ];
  expect(await command.book.end("ada", first.id)).toBe(false);
  expect(await command.book.end("local", first.id)).toBe(true);
  await whenSeen(() => expect(server.book.find(first)).toBeNull());
  const { ticket } = await server.book.createTicket(local);
  await command.book.endAll("local");
  await whenSeen(() => expect(server.book.isUsable(second.id)).toBe(false));
  expect(await server.book.redeem(ticket)).toBeNull();
  expect(server.book.find(third)).not.toBeNull();
});

test("a user keeps a hundred logins, those used last", async () => {
  await using opened = await openBook();
  const { book } = opened;
  const first = await book.create(local, browser);
  for (let count = 0; count < 100; count++) {
    nowMs += 1;
    await book.create(local, browser);
  }
  expect(await book.list("local")).toHaveLength(100);
  expect(book.find(first)).toBeNull();
});

test("P13: no file holds a ticket, or a half of a login", async () => {
  await using opened = await openBook();
  const { ticket } = await opened.book.createTicket(local);
  const { cookie, proof } = await opened.book.create(local, browser);
  for (const file of await readdir(dataDir)) {
    const text = await readFile(join(dataDir, file), "latin1");
    for (const secret of [ticket, cookie, proof]) expect(text).not.toContain(secret);
  }
});
