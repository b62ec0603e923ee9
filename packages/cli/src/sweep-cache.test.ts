import { mkdir, readdir, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { sweepCache } from "./sweep-cache.ts";

const day = 24 * 60 * 60 * 1000;
const now = Date.UTC(2026, 10, 25);

test("what nobody has written for a month is removed, with folders that are empty then; all else stays", async () => {
  await using directory = await openTemporaryDirectory();
  const folder = directory.path;
  const files: readonly (readonly [string, number])[] = [
    ["main-1a-v24.1.0-x64", 31],
    ["main-2b-v24.2.0-x64", 29],
    ["notes", 400],
    ["v24.1.0-x64-aa-0/old", 31],
    ["v24.2.0-x64-bb-0/old", 31],
    ["v24.2.0-x64-bb-0/new", 1],
    ["photos/old", 400],
    ["elsewhere/old", 400],
  ];
  for (const [name, days] of files) {
    const path = join(folder, name);
    await mkdir(join(path, ".."), { recursive: true });
    await writeFile(path, "");
    await utimes(path, now / 1000, (now - days * day) / 1000);
  }
  await symlink(join(folder, "elsewhere"), join(folder, "v24.3.0-x64-cc-0"));
  await sweepCache(folder, now);
  expect((await readdir(folder, { recursive: true })).toSorted()).toEqual([
    "elsewhere",
    join("elsewhere", "old"),
    "main-2b-v24.2.0-x64",
    "notes",
    "photos",
    join("photos", "old"),
    "v24.2.0-x64-bb-0",
    join("v24.2.0-x64-bb-0", "new"),
    "v24.3.0-x64-cc-0",
    join("v24.3.0-x64-cc-0", "old"),
  ]);
});

test("a folder that is not there is nothing to sweep", async () => {
  await using directory = await openTemporaryDirectory();
  await expect(sweepCache(join(directory.path, "none"))).resolves.toBeUndefined();
});
