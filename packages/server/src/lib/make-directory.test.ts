import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeDirectory } from "./make-directory.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "convoke-directory-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

test("makes what is missing, with the mode, also when asked twice at once", async () => {
  const path = join(folder, "a", "b", "c");
  await Promise.all([makeDirectory(path, 0o700), makeDirectory(path, 0o700)]);
  expect((await stat(path)).mode & 0o777).toBe(0o700);
  await makeDirectory(path, 0o700);
});

test("a file in the way is an error", async () => {
  await writeFile(join(folder, "file"), "");
  await expect(makeDirectory(join(folder, "file"), 0o700)).rejects.toThrow("is a file");
  await expect(makeDirectory(join(folder, "file", "below"), 0o700)).rejects.toThrow();
});

test.skipIf(process.platform !== "linux")(
  "P50: below /proc it ends with an error instead of never",
  async () => {
    await expect(makeDirectory("/proc/nope/data", 0o700)).rejects.toThrow("ENOENT");
  },
);
