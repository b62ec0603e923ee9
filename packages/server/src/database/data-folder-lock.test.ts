import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DataFolderBusyError, lockDataFolder } from "./data-folder-lock.ts";

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "convoke-lock-"));
});
afterEach(async () => {
  await rm(dataDir, { recursive: true, force: true });
});

test("many may use a folder together, or one alone", () => {
  {
    using _one = lockDataFolder(dataDir, "shared");
    using _other = lockDataFolder(dataDir, "shared");
    expect(() => lockDataFolder(dataDir, "alone")).toThrow(DataFolderBusyError);
  }
  using _alone = lockDataFolder(dataDir, "alone");
  for (const use of ["shared", "alone"] as const) {
    expect(() => lockDataFolder(dataDir, use)).toThrow(DataFolderBusyError);
  }
});

test("one file, however often it was locked", async () => {
  for (const use of ["shared", "alone", "shared"] as const) lockDataFolder(dataDir, use)[Symbol.dispose]();
  expect(await readdir(dataDir)).toEqual(["in-use.lock"]);
});
