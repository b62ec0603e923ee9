import { closeSync, constants, copyFileSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { LogRoom } from "./log-room.ts";
import { openTemporaryDirectory } from "./testing/temporary-directory.ts";

const { O_APPEND, O_WRONLY } = constants;

/** A database with a log, and the files that a killed process would leave now. */
async function openLogged() {
  const directory = await openTemporaryDirectory();
  const path = join(directory.path, "room.sqlite");
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE rows (text TEXT)");
  const insert = database.prepare("INSERT INTO rows VALUES (?)");
  const log = openSync(`${path}-wal`, O_WRONLY | O_APPEND);
  const room = new LogRoom(database);
  return {
    database,
    log,
    room,
    insert: (text: string) => void insert.run(text),
    size: () => statSync(`${path}-wal`).size,
    left: () => {
      const copy = join(directory.path, "left.sqlite");
      for (const suffix of ["", "-wal"]) copyFileSync(`${path}${suffix}`, `${copy}${suffix}`);
      using killed = new DatabaseSync(copy);
      expect(killed.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
      return killed
        .prepare("SELECT text FROM rows")
        .all()
        .map(({ text }) => text);
    },
    [Symbol.asyncDispose]: async () => {
      closeSync(log);
      database.close();
      await directory[Symbol.asyncDispose]();
    },
  };
}

test("writes into the preallocated room do not make the file longer until it is used up", async () => {
  await using logged = await openLogged();
  logged.insert("first");
  logged.room.keep(logged.log);
  const { size } = logged;
  const withRoom = size();
  for (let count = 0; count < 8; count += 1) logged.insert("more");
  expect(size()).toBe(withRoom);
  logged.room.keep(logged.log);
  for (let count = 0; count < 20; count += 1) logged.insert("more");
  expect(size()).toBeGreaterThan(withRoom);
});

test("P6: whatever was committed before, between and after is read after a kill, also over checkpoints", async () => {
  await using logged = await openLogged();
  const written: string[] = [];
  for (let step = 0; step < 300; step += 1) {
    const text = `${step} ${"x".repeat((step * 37) % 3000)}`;
    logged.insert(text);
    written.push(text);
    if (step % 3 === 0) logged.room.keep(logged.log);
    if (step % 70 === 69) logged.database.exec("PRAGMA wal_checkpoint(RESTART)");
    if (step % 10 === 0 || step % 70 < 3) expect(logged.left()).toEqual(written);
  }
  expect(logged.size()).toBeLessThan(2_000_000);
});

test("P7: when preallocation fails nothing else fails and nothing is lost", async () => {
  await using logged = await openLogged();
  logged.insert("one");
  const unwritable = openSync(join(logged.database.location() ?? ""), "r");
  try {
    logged.room.keep(unwritable);
  } finally {
    closeSync(unwritable);
  }
  logged.insert("two");
  expect(logged.left()).toEqual(["one", "two"]);
});

test("P7: preallocation during another writer's write loses nothing", async () => {
  await using logged = await openLogged();
  logged.insert("one");
  using other = new DatabaseSync(logged.database.location() ?? "", { timeout: 0 });
  other.exec("BEGIN IMMEDIATE; INSERT INTO rows VALUES ('two')");
  const before = logged.size();
  logged.room.keep(logged.log);
  expect(logged.size()).toBeGreaterThan(before);
  other.exec("INSERT INTO rows VALUES ('three'); COMMIT");
  expect(logged.left()).toEqual(["one", "two", "three"]);
});

test.for([
  ["3.50.4", false],
  ["3.51.0", true],
  ["4.0.0", true],
] as const)("room is made where SQLite tells how long its log is: %s, %s", async ([sqlite, isMade]) => {
  await using logged = await openLogged();
  logged.insert("one");
  const before = logged.size();
  new LogRoom(logged.database, sqlite).keep(logged.log);
  expect(logged.size() > before).toBe(isMade);
});
