import { expect, test } from "vitest";
import { DiskWatch, type DiskSpace } from "./disk-watch.ts";

const gigabyte = 1024 ** 3;

function watch(space: { -readonly [Key in keyof DiskSpace]: number }) {
  const checked: string[] = [];
  const clock = { ms: 0 };
  const disk = new DiskWatch({
    folders: ["/data"],
    readSpace: async (folder) => {
      checked.push(folder);
      if (folder === "/gone") throw new Error("ENOENT");
      return folder === "/data" ? { totalBytes: 1e15, freeBytes: 1e14 } : { ...space };
    },
    nowMs: () => clock.ms,
  });
  return { disk, checked, clock };
}

test.each([
  ["a large disk with a GiB", 2_000 * gigabyte, gigabyte, false],
  ["a large disk with less", 2_000 * gigabyte, gigabyte - 1, true],
  ["a small disk with a twentieth", 4 * gigabyte, 0.2 * gigabyte, false],
  ["a small disk with less", 4 * gigabyte, 0.2 * gigabyte - 1, true],
  ["a file system without a size", 0, 0, false],
])("%s", async (_name, totalBytes, freeBytes, isFull) => {
  const { disk } = watch({ totalBytes, freeBytes });
  expect((await disk.whyFull(["/shop"])) !== null).toBe(isFull);
});

test("the words name the folder, what is free, and what to do", async () => {
  const { disk } = watch({ totalBytes: 100 * gigabyte, freeBytes: gigabyte / 2 });
  expect(await disk.whyFull(["/shop"])).toBe(
    "The disk of /shop is nearly full: 512 MB are free, and no new command starts below 1024 MB. Commands that run go on. Somebody has to free space on this machine, then commands can be run again.",
  );
});

test("a disk with room is checked every 30 seconds, a full one for each command", async () => {
  const space = { totalBytes: 100 * gigabyte, freeBytes: 50 * gigabyte };
  const { disk, checked, clock } = watch(space);
  for (const ms of [0, 29_999]) {
    clock.ms = ms;
    expect(await disk.whyFull(["/shop"])).toBeNull();
  }
  expect(checked).toEqual(["/shop", "/data"]);
  clock.ms = 30_000;
  space.freeBytes = 0;
  expect(await disk.whyFull(["/shop"])).toContain("nearly full");
  space.freeBytes = 50 * gigabyte;
  expect(await disk.whyFull(["/shop"])).toBeNull();
  expect(checked).toHaveLength(5);
});

test("a folder that is not there refuses nothing", async () => {
  const { disk } = watch({ totalBytes: 1, freeBytes: 0 });
  expect(await disk.whyFull(["/gone"])).toBeNull();
});
