import { appendFile, mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../lib/clock.ts";
import { silentLogger } from "../lib/logger.ts";
import { createSigner } from "../security/signer.ts";
import { resealAllHeads } from "./all-audit-heads.ts";
import { beforeFirst, chainLine } from "./audit-chain.ts";
import { AuditLog, type AuditLogDeps } from "./audit-log.ts";
import { AuditPlace } from "./audit-place.ts";
import { verifyAudit } from "./verify-audit.ts";

const [key, otherKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const signer = createSigner([key]);
let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "convoke-audit-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** A server that writes these lines and ends. */
async function write(numbers: readonly number[], deps: Partial<AuditLogDeps> = {}): Promise<void> {
  using place = new AuditPlace(directory, signer);
  await using log = new AuditLog({ place, name: "calls", clock: systemClock, logger: silentLogger, ...deps });
  for (const number of numbers) log.append({ number });
}

const path = (name = "calls.jsonl"): string => join(directory, name);
const readLines = async (): Promise<string[]> => (await readFile(path(), "utf8")).trimEnd().split("\n");
const writeLines = (lines: readonly string[]): Promise<void> =>
  writeFile(path(), lines.map((line) => `${line}\n`).join(""));

/** What an attacker makes who knows how the chain works: all digests from the first line on. */
function rechain(lines: readonly string[]): string[] {
  let last = beforeFirst;
  return lines.map((line) => {
    const { line: chained, link } = chainLine(last, line.replace(/,"n":\d+,"h":"[0-9a-f]+"\}$/, ""));
    last = link;
    return chained.trimEnd();
  });
}

async function breaks(): Promise<string[]> {
  const { breaks: found } = await verifyAudit(directory, signer);
  return found.map(({ file, line, problem }) => `${file}:${line ?? ""} ${problem}`);
}

test("P54: an untouched stream has no break, over restarts and rotations, and its numbers go on", async () => {
  for (let number = 1; number <= 12; number += 1)
    await write([number, number], { rotateBytes: 400, maxFiles: 2 });
  const report = await verifyAudit(directory, signer);
  expect(report.breaks).toEqual([]);
  expect(report.streams).toMatchObject([
    { stream: "calls", files: 3, lines: 12, first: 13, last: 24, unchained: 0 },
  ]);
  await rm(path("calls.2.jsonl"));
  expect(await breaks()).toEqual(["calls.1.jsonl:1 has number 17, and lines 13 to 16 are missing"]);
});

test.each<[string, (lines: string[]) => readonly string[], string]>([
  [
    "changed",
    (lines) => lines.with(2, lines[2]!.replace(":3,", ":8,")),
    "calls.jsonl:3 has number 3 and does not have its digest",
  ],
  ["removed", (lines) => lines.toSpliced(2, 1), "calls.jsonl:3 has number 4, and lines 3 to 3 are missing"],
  ["repeated", (lines) => lines.toSpliced(3, 0, lines[1]!), "calls.jsonl:4 has number 2 after number 3"],
  ["foreign", (lines) => lines.toSpliced(3, 0, "{}"), "calls.jsonl:4 is not one of the chain"],
  [
    "cut off at the end",
    (lines) => lines.slice(0, 4),
    "calls.jsonl:4 is the last one, number 4, and the sealed head is number 5",
  ],
  [
    "cut off at the start",
    (lines) => lines.slice(1),
    "calls.jsonl:1 has number 2, and lines 1 to 1 are missing",
  ],
  [
    "changed with all digests",
    (lines) => rechain(lines.with(2, lines[2]!.replace(":3,", ":8,"))),
    "calls.jsonl:5 has number 5 and is not the one that was sealed",
  ],
])("P54: a line that was %s is found, also after the server has gone on", async (_what, change, problem) => {
  await write([1, 2, 3, 4, 5]);
  await writeLines(change(await readLines()));
  expect(await breaks()).toEqual([expect.stringContaining(problem)]);
  await write([6]);
  expect(await breaks()).toHaveLength(1);
});

test("P54: a line that is not JSON is named by file and number, also with all digests right", async () => {
  await write([1, 2, 3]);
  const note = '{"at":"2026-01-31T00:00:00.000Z","chain":"lines lost","lost":,"n":2,"h":""}';
  for (const broken of [note, (await readLines())[1]!.replace(":2,", ":two,")]) {
    const lines = (await readLines()).with(1, broken.replace(/,"n":2,"h":"[0-9a-f]*"\}$/, ""));
    await writeLines(rechain(lines));
    await rm(path("heads.json"), { force: true });
    const { breaks: found } = await verifyAudit(directory, signer);
    expect(found[0]).toMatchObject({ file: "calls.jsonl", line: 2, problem: "is not JSON" });
  }
});

test("a line from before there was a chain that is not JSON is named", async () => {
  await writeLines(['{"at":"2026","number":1}', '{"at":"20', "\0\0"]);
  await write([3]);
  const { breaks: found, remarks, streams } = await verifyAudit(directory, signer);
  expect(found).toEqual([]);
  expect(remarks.map(({ file, line, problem }) => [file, line, problem])).toEqual([
    ["calls.1.jsonl", 2, "is not JSON"],
    ["calls.1.jsonl", 3, "is not JSON"],
  ]);
  expect(streams).toMatchObject([{ unchained: 3 }]);
});

test("P54: streams and heads that are gone, or sealed with another key, are found", async () => {
  await write([1, 2]);
  const heads = await readFile(path("heads.json"), "utf8");
  await rm(path("heads.json"));
  expect(await breaks()).toEqual(["calls.jsonl: has lines and no sealed head"]);
  await writeFile(path("heads.json"), heads.replace('"n":2', '"n":1'));
  expect(await breaks()).toEqual(["heads.json: was not sealed by this folder's key"]);
  await write([3]);
  expect(await breaks()).toEqual([expect.stringContaining("the heads were not sealed by this folder's key")]);
  await writeFile(path("heads.json"), heads);
  await rm(path());
  expect(await breaks()).toEqual([expect.stringContaining("the sealed head is number 2")]);
});

test("P54: a half line after a crash is kept in a line, and is no break", async () => {
  await write([1, 2]);
  await appendFile(path(), '{"at":"2026'.padEnd(5_000));
  expect(await verifyAudit(directory, signer)).toMatchObject({
    breaks: [],
    remarks: [{ line: 3, problem: expect.stringContaining("cut off by a crash") as string }],
  });
  await write([3]);
  expect(JSON.parse((await readLines())[2]!)).toMatchObject({
    chain: "cut off by a crash",
    rest: '{"at":"2026'.padEnd(1_000),
  });
  expect(await verifyAudit(directory, signer)).toMatchObject({
    breaks: [],
    remarks: [{ line: 3, problem: "says that a line was cut off by a crash" }],
    streams: [{ last: 4 }],
  });
});

test("P54: lines after the last sealed head of a process that was killed are continued", async () => {
  await write([1, 2]);
  const heads = await readFile(path("heads.json"), "utf8");
  await write([3, 4]);
  await writeFile(path("heads.json"), heads);
  expect(await breaks()).toEqual([]);
  await write([5]);
  expect(await breaks()).toEqual([]);
});

test("P54: new lines are sealed while the log is open", async () => {
  using place = new AuditPlace(directory, signer);
  await using log = new AuditLog({
    place,
    name: "calls",
    clock: systemClock,
    logger: silentLogger,
    sealMs: 1,
  });
  log.append({ number: 1 });
  await expect.poll(() => readFile(path("heads.json"), "utf8").catch(() => "")).toContain('"n":1');
  await truncate(path());
  expect(await breaks()).toEqual([expect.stringContaining("the sealed head is number 1")]);
});

test("lines from before there was a chain are set aside and counted", async () => {
  await writeLines(['{"at":"2026","number":1}', '{"at":"2026","number":2}']);
  await write([3]);
  expect(await verifyAudit(directory, signer)).toMatchObject({
    breaks: [],
    streams: [{ files: 2, lines: 3, unchained: 2, first: 1, last: 1 }],
  });
});

test("after a change of the key the heads are sealed with the new one", async () => {
  await write([1]);
  await resealAllHeads(directory, createSigner([otherKey, key]));
  expect(await breaks()).toEqual(["heads.json: was not sealed by this folder's key"]);
  expect((await verifyAudit(directory, createSigner([otherKey]))).breaks).toEqual([]);
});
