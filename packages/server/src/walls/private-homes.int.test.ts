import { chmod, mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLogger } from "../lib/logger.ts";
import { HomeUses, processName } from "./home-uses.ts";
import { PrivateHomes } from "./private-homes.ts";

const home = "0123456789abcdef";
const dayMs = 24 * 60 * 60_000;

async function openHomes(maxMb = 64) {
  const root = await mkdtemp(join(tmpdir(), "convoke-homes-"));
  const places = { homesDir: join(root, "homes"), runsDir: join(root, "run") };
  const folder = join(root, "shop");
  for (const path of [join(places.homesDir, home), places.runsDir, folder])
    await mkdir(path, { recursive: true });
  const uses = new HomeUses(places);
  const clock = { ms: Date.now() };
  const limits = { maxMb, maxUnusedDays: 30 };
  const homes = new PrivateHomes({ ...places, uses, limits, logger: silentLogger, nowMs: () => clock.ms });
  return {
    ...places,
    root,
    folder,
    uses,
    homes,
    clock,
    names: () => readdir(places.homesDir),
    inHome: (path: string) => join(places.homesDir, home, path),
    [Symbol.asyncDispose]: async () => {
      await homes[Symbol.asyncDispose]();
      await rm(root, { recursive: true });
    },
  };
}

async function fill(folder: string, megabytes: number, changedSeconds: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "file"), Buffer.alloc(megabytes * 1024 * 1024, 1));
  for (const path of [join(folder, "file"), folder]) await utimes(path, changedSeconds, changedSeconds);
}

test("caches are dropped until the home is small enough, those that changed least recently first", async () => {
  await using world = await openHomes(11);
  await fill(world.inHome(".cache/pip"), 3, 3_000);
  await fill(world.inHome("go/pkg/mod"), 4, 1_000);
  await fill(world.inHome(".npm/_cacache"), 4, 2_000);
  await fill(world.inHome("notes"), 3, 10);
  // As Go leaves its modules.
  await chmod(world.inHome("go/pkg/mod"), 0o555);
  await world.homes.bound(home);
  expect(await readdir(world.inHome(""))).toEqual([".cache", ".npm", "go", "notes"]);
  expect(await readdir(world.inHome(".cache"))).toEqual(["pip"]);
  expect(await readdir(world.inHome("go/pkg"))).toEqual([]);
  expect(await readdir(world.inHome(".npm"))).toEqual(["_cacache"]);
  expect(world.homes.takeNote(home)).toMatch(
    /^Home: 1\d MB were in the home of this folder, and 11 may be \(CONVOKE_WALL_HOME_MB\)\. Dropped: go\/pkg\/mod \(\d MB\)\.$/,
  );
  expect(world.homes.takeNote(home)).toBeNull();
  expect(await world.names()).toEqual([home]);
});

test("what is no cache stays, and the agent is told", async () => {
  await using world = await openHomes(1);
  await fill(world.inHome("notes"), 3, 10);
  await world.homes.bound(home);
  expect(await readdir(world.inHome("notes"))).toEqual(["file"]);
  expect(world.homes.takeNote(home)).toContain("It still has");
});

test("a link that an agent left leads to nothing outside", async () => {
  await using world = await openHomes(1);
  const outside = join(world.root, "outside");
  await fill(join(outside, "pip"), 3, 10);
  await symlink(outside, world.inHome(".cache"));
  await symlink(join(outside, "pip"), world.inHome("go"));
  await world.homes.bound(home);
  expect(await readdir(join(outside, "pip"))).toEqual(["file"]);
});

test("a home that a wall of any process uses is neither cleaned nor removed", async () => {
  await using world = await openHomes(1);
  await fill(world.inHome(".cache/pip"), 3, 10);
  const marks = join(world.runsDir, processName(), "homes");
  await world.uses.hold(home, "wall-1");
  await world.homes.bound(home);
  world.clock.ms += 31 * dayMs;
  await world.homes.sweep();
  expect(await readdir(world.inHome(".cache"))).toEqual(["pip"]);
  expect(await readdir(marks)).toEqual([`${home}.wall-1`]);
  // Marks of a process that has ended do not count.
  await mkdir(join(world.runsDir, "999999999-1/homes"), { recursive: true });
  await writeFile(join(world.runsDir, "999999999-1/homes", `${home}.x`), "");
  await world.uses.release(home, "wall-1");
  await world.homes.sweep();
  expect(await world.names()).toEqual([]);
});

test("a wall waits for a home that is being cleaned, and for none that an ended process left locked", async () => {
  await using world = await openHomes();
  const { promise, resolve } = Promise.withResolvers<void>();
  const cleaning = world.uses.whileUnused(home, () => promise);
  await expect.poll(world.names).toContain(`${home}.cleaning`);
  let isHeld = false;
  const holding = world.uses.hold(home, "wall-1").then(() => (isHeld = true));
  expect(await world.uses.whileUnused(home, async () => {})).toBe(false);
  expect(isHeld).toBe(false);
  resolve();
  expect(await cleaning).toBe(true);
  await holding;
  await writeFile(join(world.homesDir, `${home}.cleaning`), "999999999-1");
  await world.uses.hold(home, "wall-2");
  expect(await world.names()).toEqual([home]);
});

test("a home goes when it was not used for long", async () => {
  await using world = await openHomes();
  await world.homes.hold(home, "wall-1", world.folder);
  await world.uses.release(home, "wall-1");
  world.clock.ms += 29 * dayMs;
  await world.homes.sweep();
  expect(await world.names()).toEqual([home, `${home}.json`]);
  world.clock.ms += 2 * dayMs;
  await world.homes.sweep();
  expect(await world.names()).toEqual([]);
});

test("a home goes when its working folder was away for a day, and stays when that comes back", async () => {
  await using world = await openHomes();
  await world.homes.hold(home, "wall-1", world.folder);
  await world.uses.release(home, "wall-1");
  await rm(world.folder, { recursive: true });
  await world.homes.sweep();
  await mkdir(world.folder);
  world.clock.ms += 2 * dayMs;
  await world.homes.sweep();
  expect(await world.names()).toContain(home);
  await rm(world.folder, { recursive: true });
  await world.homes.sweep();
  world.clock.ms += dayMs + 1;
  await world.homes.sweep();
  expect(await world.names()).toEqual([]);
});
