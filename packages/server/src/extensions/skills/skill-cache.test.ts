import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createLocalWorkspace } from "@convoke/tool-host";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SkillCache, type SkillFiles } from "./skill-cache.ts";
import { loadProjectSkills } from "./load-skills.ts";

let folder: string;
let nowMs: number;
let reads: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "convoke-kept-skills-"));
  nowMs = 1_700_000_100_000;
  reads = [];
});
afterEach(async () => rm(folder, { recursive: true, force: true }));

const pathOf = (name: string): string => join(folder, ".agents/skills", name, "SKILL.md");

async function write(name: string, words: string, modifiedAtMs: number): Promise<void> {
  await mkdir(dirname(pathOf(name)), { recursive: true });
  await writeFile(pathOf(name), `---\nname: ${name}\ndescription: ${words}\n---\nDo it.`);
  await utimes(pathOf(name), modifiedAtMs / 1000, modifiedAtMs / 1000);
}

/** Loads as a conversation does; each call is another one. */
function openLoader(): () => Promise<(string | null | undefined)[]> {
  const local = createLocalWorkspace({ environment: {} });
  const files: SkillFiles = {
    ...local,
    readFile: async (path, range) => {
      reads.push(path);
      return await local.readFile(path, range);
    },
    skillCache: new SkillCache(() => nowMs),
  };
  return async () => {
    reads = [];
    return (await loadProjectSkills(files, folder)).skills.map(({ description }) => description);
  };
}

test("a skill is read again when its file has changed, and only then", async () => {
  const load = openLoader();
  await write("one", "first", 1_700_000_000_000);
  await write("two", "other", 1_700_000_000_000);
  expect(await load()).toEqual(["first", "other"]);
  expect(await load()).toEqual(["first", "other"]);
  expect(reads).toEqual([]);
  // Of the same length.
  await write("one", "third", 1_700_000_001_000);
  expect(await load()).toEqual(["third", "other"]);
  expect(reads).toEqual([pathOf("one")]);
  // With a time that was kept when it was copied.
  await write("one", "longer", 1_700_000_001_000);
  expect(await load()).toEqual(["longer", "other"]);
  await rm(dirname(pathOf("two")), { recursive: true });
  await write("six", "new", 1_700_000_000_000);
  expect(await load()).toEqual(["longer", "new"]);
});

test("a file that may be written again in the same moment is read each time", async () => {
  const load = openLoader();
  await write("one", "first", nowMs - 1_000);
  expect(await load()).toEqual(["first"]);
  await write("one", "third", nowMs - 1_000);
  expect(await load()).toEqual(["third"]);
  nowMs += 5_000;
  await load();
  await load();
  expect(reads).toEqual([]);
});

test("an invalid skill file is reported each time", async () => {
  const load = openLoader();
  await write("one", "first", 1_700_000_000_000);
  await writeFile(pathOf("one"), "---\nname: [\n---\n");
  await utimes(pathOf("one"), 1_700_000_000, 1_700_000_000);
  expect(await load()).toEqual([]);
  expect(await load()).toEqual([]);
  expect(reads).toEqual([pathOf("one")]);
});

test("what is kept has a limit, and the longest unused goes first", async () => {
  const load = openLoader();
  const names = Array.from({ length: 40 }, (_, index) => `skill-${index}`);
  for (const name of names) {
    await write(name, "large", 1_700_000_000_000);
    await writeFile(pathOf(name), `---\nname: ${name}\ndescription: large\n---\n${"x".repeat(60_000)}`);
    await utimes(pathOf(name), 1_700_000_000, 1_700_000_000);
  }
  expect(await load()).toHaveLength(names.length);
  expect(await load()).toHaveLength(names.length);
  expect(reads.length).toBeGreaterThan(0);
});
