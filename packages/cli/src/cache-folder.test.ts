import { chmod, chown, mkdir, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { openCacheFolder } from "./cache-folder.ts";

async function openHome() {
  const directory = await openTemporaryDirectory();
  const home = join(directory.path, "home");
  await mkdir(home);
  vi.stubEnv("HOME", home);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await directory[Symbol.asyncDispose]();
  });
  return { home, folder: join(home, ".cache", "convoke"), elsewhere: join(directory.path, "elsewhere") };
}

const isRoot = process.geteuid?.() === 0;
const somebodyElse = 54_321;

test("compiled code is kept in a folder of the home that is for its user alone", async () => {
  const { folder } = await openHome();
  expect(openCacheFolder()).toBe(folder);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  expect(openCacheFolder()).toBe(folder);
});

test("what others could have put into the folder is not run", async () => {
  const { folder } = await openHome();
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "planted"), "");
  await chmod(folder, 0o775);
  expect(openCacheFolder()).toBe(folder);
  expect(await readdir(folder)).toEqual([]);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

test.runIf(isRoot)("nothing of somebody else's home is run, and nothing is made there", async () => {
  const { home } = await openHome();
  await chown(home, somebodyElse, somebodyElse);
  // As with `sudo`, which may keep the home of its caller.
  expect(openCacheFolder()).toBeNull();
  expect(await readdir(home)).toEqual([]);
});

test.runIf(isRoot)("a folder of somebody else is not used, by whatever way it is reached", async () => {
  const { home, elsewhere } = await openHome();
  await mkdir(elsewhere);
  await chown(elsewhere, somebodyElse, somebodyElse);
  await mkdir(join(home, ".cache"));
  await symlink(elsewhere, join(home, ".cache", "convoke"));
  expect(openCacheFolder()).toBeNull();
});

test.runIf(isRoot)(
  "a folder is not used that somebody else could put another one in the place of",
  async () => {
    const { home } = await openHome();
    await mkdir(join(home, ".cache"));
    await chown(join(home, ".cache"), somebodyElse, somebodyElse);
    expect(openCacheFolder()).toBeNull();
  },
);

test.each(["", "relative"])('without a home nothing is kept ("%s")', async (home) => {
  await openHome();
  vi.stubEnv("HOME", home);
  expect(openCacheFolder()).toBeNull();
});
