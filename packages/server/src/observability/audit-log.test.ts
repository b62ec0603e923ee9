import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AuditLog, type AuditLogDeps } from "./audit-log.ts";

let directory: string;
const warnings: object[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "convoke-audit-"));
  warnings.length = 0;
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const open = (deps: Partial<AuditLogDeps> = {}): AuditLog =>
  new AuditLog({
    directory: join(directory, "audit"),
    name: "calls",
    clock: { nowMs: () => Date.UTC(2026, 0, 31) },
    logger: { info: () => {}, warn: () => {}, error: (fields) => void warnings.push(fields) },
    ...deps,
  });

const read = (name = "calls.jsonl"): Promise<string> => readFile(join(directory, "audit", name), "utf8");

async function numbers(name?: string): Promise<number[]> {
  const lines = (await read(name)).trim().split("\n");
  return lines.map((line) => (JSON.parse(line) as { number: number }).number);
}

test("P54: everything appended is in the file when the log is closed, in order, after what was there", async () => {
  for (const start of [0, 1_000]) {
    await using log = open();
    for (let number = start; number < start + 1_000; number += 1) log.append({ number });
  }
  expect(await numbers()).toEqual(Array.from({ length: 2_000 }, (_, number) => number));
  expect((await read()).split("\n", 1)[0]).toBe('{"at":"2026-01-31T00:00:00.000Z","number":0}');
  const modes = [join(directory, "audit"), join(directory, "audit", "calls.jsonl")].map(
    async (path) => (await stat(path)).mode & 0o777,
  );
  expect(await Promise.all(modes)).toEqual([0o700, 0o600]);
  expect(warnings).toEqual([]);
});

test("P54: a full file is rotated, the newest files stay, and no line is split", async () => {
  for (let number = 0; number < 40; number += 1) {
    await using log = open({ rotateBytes: 200, maxFiles: 2 });
    log.append({ number });
    log.append({ number: number + 0.5 });
  }
  expect((await readdir(join(directory, "audit"))).toSorted()).toEqual([
    "calls.1.jsonl",
    "calls.2.jsonl",
    "calls.jsonl",
  ]);
  const times = [
    ...(await numbers("calls.2.jsonl")),
    ...(await numbers("calls.1.jsonl")),
    ...(await numbers()),
  ];
  expect(times).toEqual(Array.from({ length: times.length }, (_, index) => 40 - (times.length - index) / 2));
  for (const name of await readdir(join(directory, "audit"))) {
    expect((await stat(join(directory, "audit", name))).mode & 0o777).toBe(0o600);
  }
});

test("P54: the number of lines that could not be written is logged, and later lines are written", async () => {
  await using log = open();
  await writeFile(join(directory, "audit"), "in the way");
  log.append({ number: 1 });
  await expect.poll(() => warnings).toMatchObject([{ lost: 1 }]);
  await rm(join(directory, "audit"));
  log.append({ number: 2 });
  await log[Symbol.asyncDispose]();
  expect(await numbers()).toEqual([2]);
  expect(warnings).toMatchObject([{ lost: 1 }, { lost: 1 }]);
});
