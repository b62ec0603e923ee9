import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { backUp } from "./back-up.ts";
import { checkData, type Damage } from "./check-data.ts";
import { openJournal } from "../journal/open-journal.ts";
import { startTestServer, type TestServer } from "../testing/start-server.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "convoke-data-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const script = { turns: [{ text: "Done." }], loop: true };

async function check(dataDir: string): Promise<{ events: number; damages: Damage[]; lines: string[] }> {
  const damages: Damage[] = [];
  const lines: string[] = [];
  const { events } = await checkData({
    dataDir,
    onDamage: (damage) => damages.push(damage),
    onProgress: (sentence) => lines.push(sentence),
  });
  return { events, damages, lines };
}

function change(server: TestServer, sql: string, file = "journal.db"): void {
  using database = new DatabaseSync(join(server.dataDir, file), { enableForeignKeyConstraints: false });
  database.exec(sql);
}

test("F5: a check finds nothing in a healthy folder, also while a server runs on it", async () => {
  await using server = await startTestServer({ script });
  const id = await server.runTo("finished", "hello");
  const { events, damages, lines } = await check(server.dataDir);
  expect(damages).toEqual([]);
  expect(events).toBe((await server.eventTexts(id)).length);
  expect(lines).toContain("application.sqlite ...");
});

test.each([
  [
    "an event that is altered",
    "UPDATE events SET json = replace(json, 'Done', 'Gone')",
    /event \d+ is gone or not what/,
  ],
  [
    "an event that is gone",
    "DELETE FROM events WHERE position % 268435456 = 2",
    /event 2 is gone or not what/,
  ],
  ["a note", "UPDATE events SET meta = '{\"a\":1}' WHERE position % 268435456 = 3", /beside event 3 /],
  ["an id", "UPDATE events SET id = zeroblob(16) WHERE position % 268435456 = 3", /event 3 is out of order/],
  [
    "the end of a log",
    "DELETE FROM events WHERE position % 268435456 > 3",
    /event 4 is gone or not what was written/,
  ],
  ["a configuration", "UPDATE conversation_documents SET config = '{'", /its configuration is no JSON/],
  ["the documents", "DELETE FROM conversation_documents", /its configuration is no JSON/],
  ["the row", "DELETE FROM conversations", /There are events under the number 1, and no conversation has it/],
])("F5: a check names %s that something else has changed", async (_, sql, sentence) => {
  await using server = await startTestServer({ script });
  await server.runTo("finished", "hello");
  await server.close();
  change(server, sql);
  const { damages } = await check(server.dataDir);
  expect(damages).toContainEqual({ file: "journal.db", problem: expect.stringMatching(sentence) });
});

test("F5: a check reports files that are no databases, and checks the others", async () => {
  await using server = await startTestServer({ script });
  await server.runTo("finished", "hello");
  await server.close();
  const path = join(server.dataDir, "application.sqlite");
  await writeFile(path, "x".repeat((await stat(path)).size));
  change(server, "UPDATE events SET json = '' WHERE position % 268435456 = 1");
  const { damages } = await check(server.dataDir);
  expect(damages.map(({ file }) => file).toSorted()).toEqual(["application.sqlite", "journal.db"]);
});

test("a check of a folder from another version is refused, and calls nothing damaged", async () => {
  await using server = await startTestServer({ script });
  await server.close();
  change(server, "PRAGMA user_version = 99");
  await expect(check(server.dataDir)).rejects.toThrow(/has format 99, .* use a newer version/);
});

test("F16: a backup of a running server's folder starts, with the same log and the same secrets", async () => {
  await using server = await startTestServer({ script });
  await server.call("PUT", "/api/settings/secrets", { name: "TOKEN", value: "canary" });
  const id = await server.runTo("finished", "hello");
  const target = join(folder, "copy");
  const files: string[] = [];
  const running = server.createConversation({ text: "go on meanwhile" });
  const { files: count } = await backUp({
    dataDir: server.dataDir,
    target,
    onProgress: (file) => files.push(file),
  });
  expect(count).toBe(files.length);
  expect(files.indexOf("application.sqlite")).toBeLessThan(files.indexOf("journal.db"));
  expect(files.some((file) => /-wal$|-shm$|\.lock$|^nodes/.test(file))).toBe(false);
  expect((await stat(target)).mode & 0o777).toBe(0o700);
  expect((await stat(join(target, "journal.db"))).mode & 0o777).toBe(0o600);
  expect((await check(target)).damages).toEqual([]);
  const events = await server.eventTexts(id);
  await running;
  await using restored = await startTestServer({ script, config: { dataDir: target } });
  expect(await restored.eventTexts(id)).toEqual(events);
  expect((await restored.call("GET", "/api/settings/secrets/TOKEN")).text).toContain("canary");
});

test("F16: files of agents in a sandbox are copied whatever their names, and records of running processes are not", async () => {
  const dataDir = join(folder, "data");
  const work = join(dataDir, "sandboxes/one/workspace");
  const state = join(dataDir, "sandboxes/one/state/s");
  for (const path of [join(work, "nodes"), join(work, "running"), state, join(dataDir, "running")])
    await mkdir(path, { recursive: true });
  await chmod(dataDir, 0o700);
  await using server = await startTestServer({ config: { dataDir } });
  const names = [
    "nodes/a",
    "running/b",
    "in-use.lock",
    "my-journal",
    "app.sqlite",
    "app.sqlite-wal",
    "texts.db",
  ];
  const latin = Buffer.from(`${work}/caf\xe9`, "latin1");
  for (const name of [...names.map((name) => join(work, name)), latin]) await writeFile(name, "kept");
  await chmod(join(work, "in-use.lock"), 0o640);
  await writeFile(join(state, "executions.sqlite"), "no database, which the agent wrote");
  await writeFile(join(dataDir, "running/1.json"), "{}");
  const target = join(folder, "copy");
  expect(await backUp({ dataDir, target, onProgress: () => {} })).toMatchObject({ leftOut: [] });
  const copied = join(target, "sandboxes/one/workspace");
  for (const name of [...names.map((name) => join(copied, name)), Buffer.from(`${copied}/caf\xe9`, "latin1")])
    expect(await readFile(name, "utf8")).toBe("kept");
  expect((await stat(join(copied, "in-use.lock"))).mode & 0o777).toBe(0o640);
  expect(await readFile(join(target, "sandboxes/one/state/s/executions.sqlite"), "utf8")).toContain("agent");
  expect(await readdir(target)).not.toEqual(expect.arrayContaining(["running"]));
  await server.close();
});

test("F16: a failed backup does not block the next one, and an interrupted one is started again", async () => {
  await using server = await startTestServer({ script });
  const { dataDir } = server;
  const id = await server.runTo("finished", "hello");
  const target = join(folder, "copy");
  const mind = (): void => {};
  await writeFile(join(dataDir, "bash.sqlite"), "no database, ".repeat(1000));
  await expect(backUp({ dataDir, target, onProgress: mind })).rejects.toThrow(/not a database/);
  expect(existsSync(target)).toBe(false);
  await rm(join(dataDir, "bash.sqlite"));
  // What `kill -9` leaves.
  await mkdir(target);
  await writeFile(join(target, "backup-unfinished"), "");
  await writeFile(join(target, "journal.db"), "half of it");
  const { files } = await backUp({ dataDir, target, onProgress: mind });
  expect(files).toBeGreaterThan(2);
  expect(await check(target)).toMatchObject({ damages: [] });
  await using restored = await startTestServer({ script, config: { dataDir: target } });
  expect(await restored.eventTexts(id)).toEqual(await server.eventTexts(id));
});

test("F16: a backup goes into an empty folder outside of the data folder, and nowhere else", async () => {
  await using server = await startTestServer();
  const { dataDir } = server;
  const onProgress = (): void => {};
  await writeFile(join(folder, "there"), "");
  await expect(backUp({ dataDir, target: folder, onProgress })).rejects.toThrow(/is not empty/);
  await expect(backUp({ dataDir, target: join(dataDir, "copy"), onProgress })).rejects.toThrow(/inside of/);
  await expect(
    backUp({ dataDir: join(folder, "no"), target: join(folder, "a"), onProgress }),
  ).rejects.toThrow(/There is no data folder/);
  expect(await readdir(folder)).toEqual(["there"]);
});

test("F16: a start notices a folder that was copied while a server wrote to it, and a backup without its end", async () => {
  await using server = await startTestServer();
  const torn = join(folder, "torn");
  // What `cp -r` does.
  const { cp } = await import("node:fs/promises");
  await cp(server.dataDir, torn, { recursive: true });
  await expect(openJournal({ dataDir: torn })).rejects.toThrow(
    /was copied while a server was writing.*convoke backup/,
  );
  const unfinished = join(folder, "unfinished");
  await backUp({ dataDir: server.dataDir, target: unfinished, onProgress: () => {} });
  await (await openJournal({ dataDir: unfinished }))[Symbol.asyncDispose]();
  await writeFile(join(unfinished, "backup-unfinished"), "");
  await expect(openJournal({ dataDir: unfinished })).rejects.toThrow(/is an incomplete backup/);
  // A server that ended as it should leaves a folder that may be copied in any way.
  await server.close();
  const whole = join(folder, "whole");
  await cp(server.dataDir, whole, { recursive: true });
  await (await openJournal({ dataDir: whole }))[Symbol.asyncDispose]();
  expect((await readFile(join(whole, "master-key"))).length).toBeGreaterThan(0);
});
