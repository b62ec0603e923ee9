import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSigner } from "../security/signer.ts";
import { AuditLog, type AuditLogDeps } from "./audit-log.ts";
import { AuditPlace } from "./audit-place.ts";

let directory: string;
const warnings: object[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "convoke-audit-"));
  warnings.length = 0;
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const openPlace = (): AuditPlace =>
  new AuditPlace(join(directory, "audit"), createSigner([Buffer.alloc(32)]));

const open = (place: AuditPlace, deps: Partial<AuditLogDeps> = {}): AuditLog =>
  new AuditLog({
    place,
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

const files = async (): Promise<string[]> =>
  (await readdir(join(directory, "audit"))).filter((name) => name.endsWith(".jsonl")).toSorted();

test("P54: everything appended is in the file when the log is closed, in order, after what was there", async () => {
  for (const start of [0, 1_000]) {
    using place = openPlace();
    await using log = open(place);
    for (let number = start; number < start + 1_000; number += 1) log.append({ number });
  }
  expect(await numbers()).toEqual(Array.from({ length: 2_000 }, (_, number) => number));
  expect((await read()).split("\n", 1)[0]).toMatch(
    /^\{"at":"2026-01-31T00:00:00\.000Z","number":0,"n":1,"h":"[0-9a-f]{64}"\}$/,
  );
  const modes = [join(directory, "audit"), join(directory, "audit", "calls.jsonl")].map(
    async (path) => (await stat(path)).mode & 0o777,
  );
  expect(await Promise.all(modes)).toEqual([0o700, 0o600]);
  expect(warnings).toEqual([]);
});

test("P54: a full file is rotated, the newest files stay, and no line is split", async () => {
  for (let number = 0; number < 40; number += 1) {
    using place = openPlace();
    await using log = open(place, { rotateBytes: 200, maxFiles: 2 });
    log.append({ number });
    log.append({ number: number + 0.5 });
  }
  const names = ["calls.1.jsonl", "calls.2.jsonl", "calls.jsonl"];
  expect(await files()).toEqual(names);
  const times = [
    ...(await numbers("calls.2.jsonl")),
    ...(await numbers("calls.1.jsonl")),
    ...(await numbers()),
  ];
  expect(times).toEqual([37, 37.5, 38, 38.5, 39, 39.5]);
  for (const name of names) {
    expect((await stat(join(directory, "audit", name))).mode & 0o777).toBe(0o600);
  }
});

const readLines = async (): Promise<object[]> =>
  (await read().catch(() => ""))
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as object]));

test("P54: what cannot be written waits, is logged once, and is written later", async () => {
  using place = openPlace();
  await using log = open(place, { retryMs: 5 });
  await writeFile(join(directory, "audit"), "in the way");
  log.append({ number: 1 });
  await expect.poll(() => warnings).toMatchObject([{ waiting: 1 }]);
  log.append({ number: 2 });
  await rm(join(directory, "audit"));
  await expect.poll(readLines).toMatchObject([
    { number: 1, n: 1 },
    { number: 2, n: 2 },
  ]);
  expect(warnings).toHaveLength(1);
});

test("P54: lines beyond what may wait are lost, and counted in a line", async () => {
  using place = openPlace();
  await using log = open(place, { retryMs: 5, maxWaiting: 2 });
  await writeFile(join(directory, "audit"), "in the way");
  for (let number = 1; number <= 5; number += 1) log.append({ number });
  await expect.poll(() => warnings).toMatchObject([{ waiting: 1 }]);
  await rm(join(directory, "audit"));
  const lost = [{ number: 1 }, { number: 2 }, { chain: "lines lost", lost: 3, n: 3 }];
  await expect.poll(readLines).toMatchObject(lost);
  log.append({ number: 6, wrong: 1n });
  await expect.poll(readLines).toMatchObject([...lost, { chain: "lines lost", lost: 1 }]);
});

test("P54: lines that wait at the end are named in the server's log", async () => {
  using place = openPlace();
  await writeFile(join(directory, "audit"), "in the way");
  {
    await using log = open(place);
    for (const number of [1, 2]) log.append({ number });
  }
  expect(warnings).toMatchObject([{ waiting: 1 }, { lost: 2 }]);
});

test("P54: notes of a crash and of a break survive a failure to write them", async () => {
  {
    using place = openPlace();
    await using log = open(place);
    log.append({ number: 1 });
  }
  const path = (name: string): string => join(directory, "audit", name);
  await rm(path("heads.json"));
  await appendFile(path("calls.jsonl"), '{"at":"half');
  await mkdir(path("heads.json.draft"));
  using place = openPlace();
  await using log = open(place, { retryMs: 5 });
  log.append({ number: 2 });
  await expect.poll(() => warnings).toContainEqual(expect.objectContaining({ waiting: 2 }));
  await rm(path("heads.json.draft"), { recursive: true });
  await expect
    .poll(readLines)
    .toMatchObject([
      { number: 1 },
      { chain: "break" },
      { chain: "cut off by a crash", rest: '{"at":"half' },
      { number: 2 },
    ]);
});

test.each(["removed", "replaced"])(
  "P54: a file that is %s while it is written to is begun again, with a note",
  async (what) => {
    using place = openPlace();
    await using log = open(place, { retryMs: 5 });
    log.append({ number: 1 });
    await expect.poll(readLines).toHaveLength(1);
    const path = join(directory, "audit", "calls.jsonl");
    await rm(path);
    if (what === "replaced") await writeFile(path, "");
    log.append({ number: 2 });
    await expect.poll(readLines).toMatchObject([
      { chain: "break", problem: "the files ended with line 0, and the sealed head was line 1", n: 2 },
      { number: 2, n: 3 },
    ]);
  },
);

test("P54: of several that write at once each has its own file, which the next one continues", async () => {
  for (const number of [1, 2]) {
    using first = openPlace();
    using second = openPlace();
    await using log = open(first);
    await using other = open(second);
    log.append({ number });
    await expect.poll(() => numbers().catch(() => [])).toContain(number);
    other.append({ number: -number });
  }
  expect(await files()).toEqual(["calls-2.jsonl", "calls.jsonl"]);
  expect(await numbers()).toEqual([1, 2]);
  expect(await numbers("calls-2.jsonl")).toEqual([-1, -2]);
});
