import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, expect, test } from "vitest";
import { LeaseHeldError, type Journal, type Lease } from "../journal.ts";
import { openJournal } from "../open-journal.ts";
import { sampleConversation, sampleEvent, sampleId } from "../sample-events.ts";

const folder = mkdtempSync(join(tmpdir(), "convoke-crash-"));
const children = new Set<ChildProcess>();
afterEach(async () => {
  for (const child of children) await kill(child);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("P7: after kill -9 every acknowledged event is there, seqs are gapless, and the log goes on", async () => {
  const dataDir = join(folder, "killed");
  let known = 0;
  for (let round = 1; round <= 4; round += 1) {
    const child = startChild(dataDir, "victim", 900);
    const acknowledged = await readLines(child, (lines) => lines.length >= round * 20);
    await kill(child);
    const lastAcknowledged = Number(acknowledged.at(-1)?.split(" ")[1]);
    expect(lastAcknowledged).toBeGreaterThan(known);

    await using journal = await openJournal({ dataDir });
    const lastSeq = await journal.lastSeq("victim");
    expect(lastSeq).toBeGreaterThanOrEqual(lastAcknowledged);
    // All or nothing: batches have three events.
    expect(lastSeq % 3).toBe(0);
    const events = await journal.read("victim", 0, lastSeq + 10);
    expect(events.map(({ seq, id }) => [seq, id])).toEqual(
      Array.from({ length: lastSeq }, (_, index) => [index + 1, sampleId(index + 1)]),
    );
    expect(await journal.count("victim", { body: "MESSAGE" })).toBe(lastSeq);
    expect(await journal.count("victim", { kind: "MessageEvent" })).toBe(lastSeq);
    known = lastSeq;
  }
  expect(readdirSync(join(dataDir, "nodes"))).toEqual([]);
});

test("P19: the write-ahead log stays small under a steady stream of lone appends, and is gone after a close", async () => {
  const dataDir = join(folder, "steady");
  const journal = await openJournal({ dataDir });
  await journal.createConversation(sampleConversation("steady"));
  const lease = await journal.claim("steady");
  let maxBytes = 0;
  for (let seq = 0; seq < 6000; seq += 1) {
    await journal.append(lease, { expectedSeq: seq, events: [sampleEvent(seq + 1, { minLength: 4000 })] });
    if (seq % 100 === 0) maxBytes = Math.max(maxBytes, statSync(join(dataDir, "journal.db-wal")).size);
  }
  await journal[Symbol.asyncDispose]();
  // Without beginning again, the log would have more than 200 MB.
  expect(maxBytes).toBeLessThan(100_000_000);
  // An index of texts may have been begun meanwhile.
  expect(readdirSync(dataDir).filter((name) => name !== "texts.db")).toEqual(["journal.db", "nodes"]);
});

test("P27: a live process keeps its conversation, a killed one loses it at once, whatever its process id", async () => {
  const dataDir = join(folder, "takeover");
  const child = startChild(dataDir, "owned", 200);
  await readLines(child, (lines) => lines.length >= 3);
  await using journal = await openJournal({ dataDir });
  await expect(journal.claim("owned")).rejects.toThrow(LeaseHeldError);
  await kill(child);
  const lease = await journal.claim("owned");
  expect(lease.generation).toBe(2);
  const lastSeq = await journal.lastSeq("owned");
  await journal.append(lease, { expectedSeq: lastSeq, events: [sampleEvent(lastSeq + 1)] });
});

test("P27: several processes append to one folder and no request fails with a lock error", async () => {
  const dataDir = join(folder, "crowd");
  const crowd = ["first", "second"].map((id) => startChild(dataDir, id, 500));
  await using journal = await openJournal({ dataDir });
  await journal.createConversation(sampleConversation("third"));
  const lease = await journal.claim("third");
  const done = Promise.all(crowd.map((child) => readLines(child, (lines) => lines.length >= 150)));
  for (let seq = 1; seq <= 300; seq += 1) {
    await journal.append(lease, { expectedSeq: seq - 1, events: [sampleEvent(seq)] });
    expect(await journal.lastSeq("third")).toBe(seq);
  }
  for (const lines of await done)
    expect(lines.filter((line) => !line.startsWith("acknowledged"))).toEqual([]);
  for (const child of crowd) await kill(child);
  for (const id of ["first", "second", "third"]) {
    const events = await journal.read(id, 0, 100_000);
    expect(events.map((event) => event.seq)).toEqual(Array.from(events, (_, index) => index + 1));
  }
});

test("P7: with no room left an append fails clearly, what was acknowledged stays, and later writes work", async () => {
  const dataDir = join(folder, "full");
  // A limit on the size of files, in blocks of 512 bytes, stands for a full disk. The last append that fits leaves room for a small one.
  const child = startChild(dataDir, "full", 200_000, "ulimit -S -f 12400; trap '' XFSZ; exec \"$@\"");
  const exited = once(child, "exit");
  const lines = await readLines(child, (seen) => seen.at(-1) === "wrote after the failure");
  const failed = lines.find((line) => line.startsWith("failed"));
  expect(failed).toMatch(/^failed JournalWriteError: The journal could not store this: .*(disk|full)/);
  const acknowledged = lines.filter((line) => line.startsWith("acknowledged")).length * 3;
  await exited;

  await using journal = await openJournal({ dataDir });
  expect(await journal.lastSeq("full")).toBe(acknowledged);
  expect(await journal.read("full", 0, 1000)).toHaveLength(acknowledged);
  expect(await journal.getConversation("full")).toMatchObject({ title: "after" });
});

test("P19: the folder takes at most 1.2 times the JSON of its events, also when many logs grow at once", async () => {
  const dataDir = join(folder, "size");
  await using journal = await openJournal({ dataDir });
  const leases: Lease[] = [];
  for (let index = 0; index < 40; index += 1) leases.push(await startConversation(journal, `log-${index}`));
  let jsonBytes = 0;
  for (let round = 0; round < 250; round += 1) {
    await Promise.all(
      leases.map(async (lease, index) => {
        const events = [1, 2].map((step) => mixedEvent(round * 2 + step, index));
        for (const { json } of events) jsonBytes += Buffer.byteLength(json);
        await journal.append(lease, { expectedSeq: round * 2, events });
      }),
    );
  }
  const folderBytes = (): number =>
    readdirSync(dataDir)
      .filter((file) => file.startsWith("journal.db") && !file.endsWith("-shm"))
      .reduce((total, file) => total + statSync(join(dataDir, file)).size, 0);
  // In the first pause the events are settled and the write-ahead log is emptied.
  await expect.poll(() => folderBytes() / jsonBytes, { timeout: 200_000, interval: 250 }).toBeLessThan(1.2);
});

/** Sizes as in real logs: mostly actions and observations of 0.5 to 4 KB, one in eight a message. */
function mixedEvent(seq: number, salt: number): ReturnType<typeof sampleEvent> {
  const minLength = 500 + ((seq * 7919 + salt * 104_729) % 3500);
  if (seq % 8 !== 0) return sampleEvent(seq, { minLength });
  const text = Array.from({ length: 60 }, (_, index) =>
    ((seq * 31 + index * 17 + salt) % 997).toString(36),
  ).join(" ");
  return sampleEvent(seq, { kind: "MessageEvent", source: "user", text, minLength });
}

async function startConversation(journal: Journal, id: string): Promise<Lease> {
  await journal.createConversation(sampleConversation(id));
  return await journal.claim(id);
}

function startChild(dataDir: string, conversationId: string, bytes: number, shell?: string): ChildProcess {
  const script = fileURLToPath(new URL("../testing/append-child.ts", import.meta.url));
  const command = [process.execPath, script, dataDir, conversationId, String(bytes)];
  const [file = "", ...args] = shell === undefined ? command : ["/bin/sh", "-c", shell, "sh", ...command];
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "inherit"] });
  children.add(child);
  return child;
}

/** The lines after `ready`, until they are enough or the child ends. */
async function readLines(child: ChildProcess, isEnough: (lines: string[]) => boolean): Promise<string[]> {
  const lines: string[] = [];
  if (child.stdout === null) return lines;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === "ready") continue;
    lines.push(line);
    if (isEnough(lines)) break;
  }
  return lines;
}

async function kill(child: ChildProcess): Promise<void> {
  children.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}
