import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { Kysely, sql } from "kysely";
import { Migrator, type Migration } from "kysely/migration";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openApplicationDatabase } from "./sqlite-application-database.ts";
import { version } from "../lib/version.ts";
import { copyBeforeUpgrade } from "./copy-before-upgrade.ts";
import { allMigrations } from "./migrations/all-migrations.ts";
import { createSqliteDialect } from "./sqlite-dialect.ts";
import { openSqliteFile } from "./sqlite-file.ts";

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "convoke-database-"));
});
afterEach(async () => {
  await rm(dataDir, { recursive: true, force: true });
});

test("several processes may open a new folder at once; what one writes the other has at hand at once", async () => {
  const opened = await Promise.all([1, 2, 3, 4].map(() => openApplicationDatabase(dataDir)));
  const [one, other] = opened;
  const users = await other!.live("keys", other!.tables.selectFrom("users").selectAll());
  const before = users.now();
  expect(before).toEqual([]);
  expect(users.now()).toBe(before);
  await one!.tables.insertInto("users").values({ id: "ada", created_at: 5 }).execute();
  expect(users.now()).toEqual([{ id: "ada", created_at: 5, role: "member", disabled_at: null }]);
  expect(await other!.read(other!.tables.selectFrom("users").selectAll())).toEqual(users.now());
  for (const database of opened) await database[Symbol.asyncDispose]();
});

test("its own writes are at hand as well, and what was written is there after opening again", async () => {
  {
    await using database = await openApplicationDatabase(dataDir);
    const users = await database.live("keys", database.tables.selectFrom("users").select("id"));
    expect(users.now()).toEqual([]);
    await database.tables.insertInto("users").values({ id: "ada", created_at: 5 }).execute();
    expect(users.now()).toEqual([{ id: "ada" }]);
  }
  await using database = await openApplicationDatabase(dataDir);
  expect(await database.tables.selectFrom("users").select("id").execute()).toEqual([{ id: "ada" }]);
});

test("issue 13: a log of ledger entries is copied back beside them and begins again, long before a commit would do it", async () => {
  await using database = await openApplicationDatabase(dataDir);
  using other = new DatabaseSync(join(dataDir, "application.sqlite"));
  const walState = (): ReturnType<StatementSync["get"]> => other.prepare("PRAGMA wal_checkpoint(NOOP)").get();
  const write = async (id: string): Promise<void> => {
    await database.commitSoon(async (tables) => {
      await tables.insertInto("users").values({ id, created_at: 5 }).execute();
    });
  };
  // Of 4 KB; a commit copies them at 4,000.
  const pages = 1_500;
  for (let written = 0; written < pages; written += 50) await write(`${written}`.padEnd(100_000, "x"));
  await vi.waitFor(
    async () => {
      await write(`${performance.now()}`);
      expect(Number(walState()?.["log"])).toBeLessThan(50);
    },
    { timeout: 60_000 },
  );
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
  const failing = database.transaction(async (tables) => {
    await tables.insertInto("users").values({ id: "ada", created_at: 5 }).execute();
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(await database.tables.selectFrom("users").selectAll().execute()).toEqual([]);
});

test("P7: a start that ends while it makes the tables leaves none of them, and the next one makes them", async () => {
  const tables = new Kysely<unknown>({
    dialect: createSqliteDialect(openSqliteFile(join(dataDir, "application.sqlite"))),
  });
  const [name, first] = Object.entries<Migration>(allMigrations)[0]!;
  const cutOff: Migration = {
    up: async (tables) => {
      await first.up(tables);
      throw new Error("no more");
    },
  };
  const provider = { getMigrations: async () => ({ [name]: cutOff }) };
  expect(await new Migrator({ db: tables, provider }).migrateToLatest()).toMatchObject({
    error: { message: "no more" },
  });
  await tables.destroy();
  await using database = await openApplicationDatabase(dataDir);
  expect(await database.tables.selectFrom("users").selectAll().execute()).toEqual([]);
});

test("P57: tables of a newer version are refused by the name of their file, and stay as they are", async () => {
  await (await openApplicationDatabase(dataDir))[Symbol.asyncDispose]();
  const path = join(dataDir, "application.sqlite");
  const newer = new Kysely<{ kysely_migration: { name: string; timestamp: string } }>({
    dialect: createSqliteDialect(openSqliteFile(path)),
  });
  const done = { name: "9999-newer", timestamp: "" };
  await newer.insertInto("kysely_migration").values(done).execute();
  await newer.destroy();
  const refused = `${path} was used by a newer version than ${version}: use a newer version, or restore a backup`;
  await expect(openApplicationDatabase(dataDir)).rejects.toThrow(refused);
  expect((await readdir(dataDir)).filter((name) => name.includes("before"))).toEqual([]);
});

test("P57: tables of an older release get what later migrations add, and keep their rows", async () => {
  {
    await using database = await openApplicationDatabase(dataDir);
    await database.tables.insertInto("users").values({ id: "ada", created_at: 5 }).execute();
  }
  const second: Migration = {
    up: async (tables) => {
      await sql`ALTER TABLE users ADD COLUMN name TEXT DEFAULT 'new'`.execute(tables);
    },
  };
  const migrations = { ...allMigrations, "9000-names": second };
  for (const _start of ["first", "second"]) {
    await using database = await openApplicationDatabase(dataDir, migrations);
    expect(await database.tables.selectFrom("users").selectAll().execute()).toEqual([
      { id: "ada", created_at: 5, role: "member", disabled_at: null, name: "new" },
    ]);
  }
  await expect(openApplicationDatabase(dataDir)).rejects.toThrow("was used by a newer version");
});

test("P57: before a newer release changes tables it copies the small databases, readable by their owner; one copy is kept", async () => {
  const { "0001-tables": first, "0002-user-rules": second, ...later } = allMigrations;
  const older = { "0001-tables": first!, "0002-user-rules": second! };
  {
    await using database = await openApplicationDatabase(dataDir, older);
    await sql`INSERT INTO users (id, created_at) VALUES ('ada', 5)`.execute(database.tables);
    using sandboxes = new DatabaseSync(join(dataDir, "sandboxes.sqlite"));
    sandboxes.exec("CREATE TABLE sandboxes (id TEXT); INSERT INTO sandboxes VALUES ('one')");
  }
  await writeFile(join(dataDir, "application.before-0.0.9.sqlite"), "");
  await writeFile(join(dataDir, "sandboxes.before-0.0.9.sqlite"), "");
  for (const _start of ["first", "second"])
    await (await openApplicationDatabase(dataDir, { ...older, ...later }))[Symbol.asyncDispose]();
  const copies = ["application", "sandboxes"].map((name) => `${name}.before-${version}.sqlite`);
  expect((await readdir(dataDir)).filter((name) => name.includes("before"))).toEqual(copies);
  for (const name of copies) expect((await stat(join(dataDir, name))).mode & 0o777).toBe(0o600);
  using before = new DatabaseSync(join(dataDir, copies[0]!), { readOnly: true });
  expect(before.prepare("SELECT name FROM kysely_migration ORDER BY name").all()).toEqual(
    Object.keys(older).map((name) => ({ name })),
  );
  expect(before.prepare("SELECT id FROM users").all()).toEqual([{ id: "ada" }]);
  using sandboxes = new DatabaseSync(join(dataDir, copies[1]!), { readOnly: true });
  expect(sandboxes.prepare("SELECT id FROM sandboxes").all()).toEqual([{ id: "one" }]);
});

test("P57: a process that comes late makes no copy of tables that another one has changed", async () => {
  await (await openApplicationDatabase(dataDir))[Symbol.asyncDispose]();
  copyBeforeUpgrade({ dataDir, version: "0.2.0", done: ["0001-tables"] });
  expect((await readdir(dataDir)).filter((name) => name.includes("before"))).toEqual([]);
});

test("P57: where the copy cannot be made the tables stay as they are", async () => {
  const { "0001-tables": first } = allMigrations;
  await (await openApplicationDatabase(dataDir, { "0001-tables": first! }))[Symbol.asyncDispose]();
  await mkdir(join(dataDir, `application.before-${version}.sqlite`));
  await expect(openApplicationDatabase(dataDir)).rejects.toThrow();
  using database = new DatabaseSync(join(dataDir, "application.sqlite"));
  expect(database.prepare("SELECT name FROM kysely_migration").all()).toEqual([{ name: "0001-tables" }]);
});

test("P57: tables of a development version are refused with what to do, and stay as they are", async () => {
  await (await openApplicationDatabase(dataDir))[Symbol.asyncDispose]();
  const path = join(dataDir, "application.sqlite");
  using database = new DatabaseSync(path);
  database.exec(
    "UPDATE kysely_migration SET name = '0001-users-keys-settings-secrets' WHERE name = '0001-tables'",
  );
  await expect(openApplicationDatabase(dataDir)).rejects.toThrow(
    `${path} is of a development version from before the first release: name another data folder`,
  );
  expect(database.prepare("SELECT name FROM kysely_migration ORDER BY name").all()).toEqual(
    ["0001-users-keys-settings-secrets", ...Object.keys(allMigrations).slice(1)].map((name) => ({ name })),
  );
});

test("P61: processes that start on a new folder at the same moment all find its tables", async () => {
  const program = `
    const { openApplicationDatabase } = await import(${JSON.stringify(join(import.meta.dirname, "sqlite-application-database.ts"))});
    const { parentPort, workerData } = await import("node:worker_threads");
    parentPort.once("message", async (dataDir) => {
      const database = await openApplicationDatabase(dataDir);
      await database[Symbol.asyncDispose]();
      parentPort.postMessage("opened");
    });
    parentPort.postMessage("ready");`;
  const workers = Array.from({ length: 4 }, () => new Worker(program, { eval: true }));
  await Promise.all(workers.map((worker) => once(worker, "message")));
  const opened = workers.map((worker) => once(worker, "message"));
  for (const worker of workers) worker.postMessage(dataDir);
  expect((await Promise.all(opened)).flat()).toEqual(["opened", "opened", "opened", "opened"]);
  await Promise.all(workers.map((worker) => worker.terminate()));
});

test("F6: a transaction that a full disk has undone fails with the disk's error and its file", async () => {
  await using database = await openApplicationDatabase(dataDir);
  const { tables } = database;
  await sql`PRAGMA max_page_count = 1`.execute(tables);
  const adding = tables.transaction().execute(async (inside) => {
    for (let index = 0; index < 2_000; index += 1) {
      await inside
        .insertInto("users")
        .values({ id: `user ${index}`.padEnd(400), created_at: 5 })
        .execute();
    }
  });
  await expect(adding).rejects.toMatchObject({
    errcode: 13,
    path: expect.stringMatching(/application\.sqlite$/),
  });
  expect(await tables.selectFrom("users").selectAll().execute()).toEqual([]);
});
