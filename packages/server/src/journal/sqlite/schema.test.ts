import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { formatProblem, journalSchema, openWriterDatabase } from "./schema.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "convoke-schema-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** As a later release may have it. */
const later = {
  ...journalSchema,
  steps: [...journalSchema.steps, "ALTER TABLE inbox ADD COLUMN reason TEXT DEFAULT 'none'"],
};

test("P57: a journal of an older release gets what later versions add, once, and keeps its rows", () => {
  const path = join(folder, "journal.db");
  {
    using database = openWriterDatabase(path);
    database.exec("INSERT INTO inbox VALUES (7, 'a', 'b', 'c')");
  }
  for (const _start of ["first", "second"]) {
    using database = openWriterDatabase(path, later);
    expect(database.prepare("SELECT number, reason FROM inbox").all()).toEqual([
      { number: 7, reason: "none" },
    ]);
  }
  expect(() => openWriterDatabase(path)).toThrow(/has format 5, this version reads up to 4/);
});

test("P57: a new journal has what all versions add", () => {
  using database = openWriterDatabase(join(folder, "journal.db"), later);
  expect(database.prepare("SELECT number, reason FROM inbox").all()).toEqual([]);
  expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: 5 });
});

test("P7: a step that fails leaves the version before", () => {
  const path = join(folder, "journal.db");
  openWriterDatabase(path).close();
  const failing = { ...later, steps: [...later.steps, "no statement"] };
  expect(() => openWriterDatabase(path, failing)).toThrow(/syntax error/);
  using database = openWriterDatabase(path);
  expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: 4 });
});

test("each format that is not read is refused with what to do", () => {
  expect(formatProblem("j", 5, later)).toBe(null);
  expect(formatProblem("j", 6, later)).toMatch(/format 6, this version reads up to 5: use a newer version/);
  expect(formatProblem("j", 4, later)).toMatch(
    /format 4 of an older release.*start a server of this version/,
  );
  expect(formatProblem("j", 3, later)).toMatch(/format 3 of a development version.*name another data folder/);
});
