import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLogger } from "../lib/logger.ts";
import type { Lesson } from "../models/address/address-rules.ts";
import { openTestDatabase } from "../testing/test-database.ts";
import { ModelLessons } from "./model-lessons.ts";

const noLookaround: Lesson = { kind: "keyword", keyword: "lookaround" };
const noOdd: Lesson = { kind: "omitted-tools", tools: [{ name: "odd", digest: "d" }] };

test("lessons outlive the process, for their user and address alone, and end after a month", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "convoke-lessons-"));
  try {
    let nowMs = 1_000_000_000_000;
    const open = async () => {
      const database = await openTestDatabase(dataDir);
      return {
        database,
        lessons: new ModelLessons({ database, clock: { nowMs: () => nowMs }, logger: silentLogger }),
      };
    };
    const before = await open();
    await before.lessons.of("ann").add("a", [noLookaround]);
    await before.lessons.of("ann").add("a", [noOdd, noLookaround]);
    await before.database[Symbol.asyncDispose]();
    const { database, lessons } = await open();
    expect(await lessons.of("ann").read("a")).toEqual([noLookaround, noOdd]);
    expect(await lessons.of("ann").read("b")).toEqual([]);
    expect(await lessons.of("bob").read("a")).toEqual([]);
    nowMs += 31 * 86_400_000;
    expect(await lessons.of("ann").read("a")).toEqual([]);
    await database[Symbol.asyncDispose]();
    expect(await lessons.of("ann").read("a")).toEqual([]);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});
