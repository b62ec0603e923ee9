import { expect, test } from "vitest";
import { DatabaseUnavailableError } from "./database-unavailable.ts";
import { describeStorageFault, inFile, storageFault } from "./storage-fault.ts";

function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${code}: it said no`), {
    code,
    syscall,
    path: "/srv/data/bash/events.json",
  });
}

function sqliteError(errcode: number): Error {
  const error = Object.assign(new Error("no"), { code: "ERR_SQLITE_ERROR", errcode });
  return inFile(error, "/srv/data/application.sqlite") as Error;
}

test.each([
  [systemError("ENOSPC", "write"), "storage_failed", /^events\.json .*disk is full/],
  [systemError("EROFS", "open"), "storage_failed", /^events\.json .*read-only/],
  [systemError("EIO", "fsync"), "storage_failed", /^events\.json .*the disk failed/],
  [systemError("EACCES", "open"), "storage_failed", /^events\.json .*not permitted/],
  [systemError("EMFILE", "open"), "too_many_open_files", /^events\.json .*no file handles/],
  [sqliteError(13), "storage_failed", /^application\.sqlite .*disk is full/],
  [sqliteError(8), "storage_failed", /^application\.sqlite .*read-only/],
  [sqliteError(4874), "storage_failed", /^application\.sqlite .*the disk failed/],
  [sqliteError(14), "storage_failed", /^application\.sqlite .*cannot be opened/],
  [sqliteError(11), "storage_damaged", /^application\.sqlite is damaged.*doctor --check-data/],
  [sqliteError(522), "storage_damaged", /^application\.sqlite is damaged/],
  [sqliteError(26), "storage_damaged", /^application\.sqlite is damaged/],
  [
    new Error("The tables cannot be read", { cause: sqliteError(13) }),
    "storage_failed",
    /^application\.sqlite/,
  ],
  [Object.assign(new Error("no"), { code: "ENOSPC" }), "storage_failed", /^A file of the data folder/],
])("F6: %s is a failure of the storage with its file and the way out", (error, code, sentence) => {
  expect(storageFault(error)).toMatchObject({
    kind: "not-now",
    code,
    message: expect.stringMatching(sentence),
  });
  expect(storageFault(error)?.message).not.toContain("/srv");
});

test("an unavailable database is a storage failure, however deep in the causes it is", () => {
  const unavailable = new DatabaseUnavailableError("The database is unavailable: it said no");
  const error = new Error("The journal could not store this", { cause: unavailable });
  expect(storageFault(error)).toMatchObject({ kind: "not-now", code: "database_away" });
});

test.each([
  new Error("a bug"),
  systemError("EACCES", "listen"),
  systemError("EACCES", "spawn git"),
  systemError("ENOENT", "open"),
  Object.assign(new Error("no such table: x"), { code: "ERR_SQLITE_ERROR", errcode: 1 }),
  "text",
])("F6: %s is none", (error) => {
  expect(storageFault(error)).toBe(null);
  expect(describeStorageFault(error)).toBe(null);
});

test("F6: the first failure is reported, also when closing failed after it, or when several operations failed together", () => {
  const closing = new SuppressedError(new Error("closed already"), systemError("EROFS", "open"));
  const together = new AggregateError([new Error("a bug"), closing]);
  for (const error of [closing, together, new Error("It did not start.", { cause: together })])
    expect(describeStorageFault(error)).toContain("the disk is read-only");
});

test("F6: the person who starts the server gets the whole path", () => {
  expect(describeStorageFault(sqliteError(13))).toMatch(
    /^\/srv\/data\/application\.sqlite cannot be written/,
  );
});
