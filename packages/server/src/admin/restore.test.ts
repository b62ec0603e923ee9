import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sql } from "kysely";
import { afterEach, beforeEach, expect, test } from "vitest";
import { allMigrations } from "../database/migrations/all-migrations.ts";
import { openApplicationDatabase } from "../database/sqlite-application-database.ts";
import { openJournal } from "../journal/open-journal.ts";
import { restore } from "./restore.ts";

const golden = join(import.meta.dirname, "../testing/golden");
let folder: string;
let backup: string;
let target: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "convoke-restore-"));
  backup = join(folder, "backup");
  target = join(folder, "data");
  const [release] = (await readdir(golden, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  await cp(join(golden, release!.name, "data"), backup, { recursive: true });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const restored = (isChecked = true, steps: string[] = []) =>
  restore({ backup, target, isChecked, onProgress: (step) => steps.push(step) });

test("a backup of an older release is checked and copied, and a server's databases open on it", async () => {
  await mkdir(join(backup, "skills/mine"), { recursive: true });
  await writeFile(join(backup, "skills/mine/SKILL.md"), "# Mine\n");
  await writeFile(join(backup, "in-use.lock"), "");
  const steps: string[] = [];
  expect(await restored(true, steps)).toEqual({ files: 4, leftOut: [] });
  expect(steps).toEqual([
    "checking journal.db ...",
    ...steps.filter((step) => step.startsWith("checking journal.db: ")),
    "checking application.sqlite ...",
    "application.sqlite",
    "master-key",
    "skills/mine/SKILL.md",
    "journal.db",
    "waiting for the disk ...",
  ]);
  expect((await readdir(target)).toSorted()).toEqual([
    "application.sqlite",
    "journal.db",
    "master-key",
    "skills",
  ]);
  await using journal = await openJournal({ dataDir: target });
  await using database = await openApplicationDatabase(target);
  expect(await journal.countConversations({})).toBe(3);
  const { rows } = await sql`SELECT name FROM kysely_migration`.execute(database.tables);
  expect(rows.length).toBe(Object.keys(allMigrations).length);
});

test.each([
  ["no folder", () => rm(backup, { recursive: true }), /There is no folder .*\. Name a backup with --from/],
  [
    "one that was cut off",
    () => writeFile(join(backup, "backup-unfinished"), ""),
    /was cut off before it was whole/,
  ],
  [
    "another folder",
    () => rename(backup, join(folder, "b")).then(() => mkdir(backup)),
    /is no backup of a data folder/,
  ],
  [
    "the journal of a newer version",
    async () => change("journal.db", "PRAGMA user_version = 99"),
    /journal\.db was used by a newer version than [\d.]+: use a newer version, or restore a backup of this one .*convoke restore --from/,
  ],
  [
    "tables of a newer version",
    async () => change("application.sqlite", "INSERT INTO kysely_migration VALUES ('9999-newer', '')"),
    /application\.sqlite was used by a newer version/,
  ],
  [
    "a damaged one",
    () => writeFile(join(backup, "application.sqlite"), "no database, ".repeat(2_000)),
    /The backup is damaged\. application\.sqlite: .*--no-check/,
  ],
])("%s is refused, and no folder is made", async (_what, prepare, expected) => {
  await prepare();
  await expect(restored()).rejects.toThrow(expected);
  expect((await readdir(folder)).includes("data")).toBe(false);
});

test("a target with anything in it, or inside of the backup, is refused and stays as it is", async () => {
  await mkdir(target);
  await writeFile(join(target, "note"), "mine");
  await expect(restored()).rejects.toThrow(
    /data is not empty\. Name a new one: the restored folder is not mixed/,
  );
  expect(await readdir(target)).toEqual(["note"]);
  target = join(backup, "data");
  await expect(restored()).rejects.toThrow(/The restored folder cannot be inside of /);
});

test("without the check a damaged database is copied as it is", async () => {
  const damaged = "no database, ".repeat(2_000);
  await writeFile(join(backup, "other.sqlite"), damaged);
  await expect(restored()).rejects.toThrow("other.sqlite");
  expect(await restored(false)).toEqual({ files: 4, leftOut: [] });
  expect(await readFile(join(target, "other.sqlite"), "utf8")).toBe(damaged);
});

test("a restore that was cut off is begun again", async () => {
  await mkdir(target);
  await writeFile(join(target, "backup-unfinished"), "");
  await writeFile(join(target, "journal.db"), "half");
  expect(await restored()).toEqual({ files: 3, leftOut: [] });
});

function change(file: string, statement: string): void {
  using database = new DatabaseSync(join(backup, file));
  database.exec(statement);
}
