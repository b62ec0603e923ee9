import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { describeJournal, startLog } from "../contract.ts";
import { follow } from "../follow.ts";
import {
  JournalWriteError,
  LeaseHeldError,
  LeaseLostError,
  type Lease,
  type NewConversation,
} from "../journal.ts";
import { openJournal } from "../open-journal.ts";
import { sampleConversation, sampleEvent } from "../sample-events.ts";
import { openSqliteJournal } from "./sqlite-journal.ts";
import { takeWriterThread } from "../../testing/pooled-writers.ts";

const folder = mkdtempSync(join(tmpdir(), "convoke-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describeJournal("sqlite", () => openJournal({ memory: true, thread: takeWriterThread() }));
describeJournal("sqlite, each event moved to its log at once", () =>
  openSqliteJournal(join(folder, "settling"), { roundSize: 1, thread: takeWriterThread() }),
);
describeJournal("sqlite, in rounds of a few events", () =>
  openSqliteJournal(join(folder, "rounds"), { roundSize: 50, thread: takeWriterThread() }),
);

test("hundreds that one commit was for go on over many turns of the loop, and all of them before the journal is closed", async () => {
  const journal = await openJournal({ memory: true });
  const leases = await Promise.all(Array.from({ length: 300 }, () => startLog(journal)));
  const appendTo = async (lease: Lease, seq: number): Promise<void> => {
    await journal.append(lease, { expectedSeq: seq - 1, events: [sampleEvent(seq)] });
    for (const startMs = performance.now(); performance.now() - startMs < 0.5;); // Later work of the same turn.
    settled += 1;
  };
  let settled = 0;
  const ofTurn: number[] = [];
  const all = Promise.all(leases.map((lease) => appendTo(lease, 1)));
  for (let before = 0; before < leases.length; before = settled) {
    await yieldToEventLoop();
    ofTurn.push(settled - before);
  }
  await all;
  expect(Math.max(...ofTurn)).toBeLessThan(leases.length / 3);

  settled = 0;
  const last = Promise.all(leases.map((lease) => appendTo(lease, 2)));
  await journal[Symbol.asyncDispose]();
  expect(settled).toBe(leases.length);
  await last;
});

test("what was acknowledged is there after a restart, and the folder is private", async () => {
  const dataDir = join(folder, "private");
  let first = await openJournal({ dataDir });
  const lease = await startLog(first);
  const events = [1, 2, 3].map((seq) =>
    sampleEvent(seq, { kind: "MessageEvent", source: "user", text: "kept" }),
  );
  await first.append(lease, { expectedSeq: 0, events });
  const nodeFiles = [`${first.nodeId}.inode`, `${first.nodeId}.lock`];
  expect(readdirSync(join(dataDir, "nodes")).sort()).toEqual(nodeFiles);
  for (const file of ["journal.db", "journal.db-wal", ...nodeFiles.map((name) => `nodes/${name}`)]) {
    expect(statSync(join(dataDir, file)).mode & 0o777).toBe(0o600);
  }
  for (const path of [dataDir, join(dataDir, "nodes")]) expect(statSync(path).mode & 0o777).toBe(0o700);
  await first[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  // On a slow machine an index of texts may have been begun.
  const left = readdirSync(dataDir).filter((name) => name !== "texts.db");
  expect(left.sort()).toEqual(["journal.db", "nodes"]);

  await using second = await openJournal({ dataDir });
  expect((await second.read(lease.conversationId, 0, 10)).map(({ json }) => json)).toEqual(
    events.map(({ json }) => json),
  );
  expect(await second.count(lease.conversationId, { body: "KEPT" })).toBe(3);
  await expect(second.append(lease, { expectedSeq: 3, events: [sampleEvent(4)] })).rejects.toThrow(
    LeaseLostError,
  );
});

test("a closed journal refuses to write", async () => {
  const journal = await openJournal({ memory: true });
  const lease = await startLog(journal);
  const underWay = journal.append(lease, { expectedSeq: 0, events: [sampleEvent(1)] });
  await journal[Symbol.asyncDispose]();
  await underWay;
  await expect(journal.append(lease, { expectedSeq: 1, events: [sampleEvent(2)] })).rejects.toThrow(
    JournalWriteError,
  );
});

test("P57: a folder written by a newer version is refused with both numbers", async () => {
  const dataDir = join(folder, "newer");
  await (await openJournal({ dataDir }))[Symbol.asyncDispose]();
  const database = new DatabaseSync(join(dataDir, "journal.db"));
  database.exec("PRAGMA user_version = 77");
  database.close();
  await expect(openJournal({ dataDir })).rejects.toThrow(/has format 77, this version reads up to 4/);
});

test("P57: a folder of a development version is refused with what to do, and stays as it is", async () => {
  const dataDir = join(folder, "development");
  await (await openJournal({ dataDir }))[Symbol.asyncDispose]();
  const path = join(dataDir, "journal.db");
  using database = new DatabaseSync(path);
  database.exec("PRAGMA user_version = 3");
  await expect(openJournal({ dataDir })).rejects.toThrow(
    `The journal ${path} has format 3 of a development version from before the first release: name another data folder, or use the version that made it.`,
  );
  expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: 3 });
});

test("P27: two nodes on one folder: one owner each, takeover when it has left, its old lease is dead", async () => {
  const dataDir = join(folder, "shared");
  const first = await openJournal({ dataDir });
  await using second = await openJournal({ dataDir });
  const lease = await startLog(first);
  const { conversationId } = lease;
  await expect(second.claim(conversationId)).rejects.toThrow(LeaseHeldError);
  await first.append(lease, { expectedSeq: 0, events: [sampleEvent(1)] });

  await first.release(lease);
  const taken = await second.claim(conversationId);
  await second.append(taken, { expectedSeq: 1, events: [sampleEvent(2)] });
  await expect(first.append(lease, { expectedSeq: 1, events: [sampleEvent(2)] })).rejects.toThrow(
    LeaseLostError,
  );
  await expect(first.claim(conversationId)).rejects.toThrow(LeaseHeldError);
  expect((await first.read(conversationId, 0, 10)).map(({ seq }) => seq)).toEqual([1, 2]);

  const other = await startLog(first);
  await expect(second.claim(other.conversationId)).rejects.toThrow(LeaseHeldError);
  await first[Symbol.asyncDispose]();
  expect((await second.claim(other.conversationId)).generation).toBeGreaterThan(other.generation);
});

test("P27: the doorbell also rings for what another node appends", async () => {
  const dataDir = join(folder, "nodes");
  await using first = await openJournal({ dataDir });
  await using second = await openJournal({ dataDir });
  const lease = await startLog(first);
  const rung = new Promise<number>((resolve) => second.onAppend(lease.conversationId, resolve));
  await first.append(lease, { expectedSeq: 0, events: [sampleEvent(1), sampleEvent(2)] });
  expect(await rung).toBe(2);
});

test("P19: a deleted conversation leaves nothing in the file, and the file shrinks", async () => {
  const dataDir = join(folder, "deleted");
  await using journal = await openJournal({ dataDir });
  const lease = await startLog(journal);
  const events = Array.from({ length: 500 }, (_, index) =>
    sampleEvent(index + 1, { kind: "MessageEvent", source: "user", text: `text ${index}`, minLength: 4000 }),
  );
  await journal.append(lease, { expectedSeq: 0, events });
  await journal.append(lease, { expectedSeq: 500, events: [sampleEvent(501)] });
  await journal.deleteConversation(lease);
  const database = new DatabaseSync(join(dataDir, "journal.db"), { readOnly: true });
  const tables = ["events", "recent", "inbox", "doomed", "conversations"];
  const countRows = (): unknown[] =>
    tables.map((table) => database.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.["rows"]);
  await expect.poll(countRows).toEqual(tables.map(() => 0));
  database.close();
  const fileBytes = (): number => statSync(join(dataDir, "journal.db")).size;
  await expect.poll(fileBytes).toBeLessThan(1_000_000);
});

test("P7: a request that cannot be stored fails alone, with those committed beside it unharmed", async () => {
  await using journal = await openJournal({ memory: true });
  const lease = await startLog(journal);
  const unstorable = sampleConversation("unstorable", { config: null as never }) satisfies NewConversation;
  const results = await Promise.allSettled([
    journal.append(lease, { expectedSeq: 0, events: [sampleEvent(1)] }),
    journal.createConversation(unstorable),
    journal.append(lease, { expectedSeq: 1, events: [sampleEvent(2)] }),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(results[1]).toMatchObject({ reason: { name: "JournalWriteError" } });
  expect(await journal.getConversation("unstorable")).toBeNull();
  await journal.append(lease, { expectedSeq: 2, events: [sampleEvent(3)] });
  expect(await journal.lastSeq(lease.conversationId)).toBe(3);
});

test("P7, F5: the events of a damaged page have stand-ins in their places; all others are read", async () => {
  const dataDir = join(folder, "damaged");
  const journal = await openJournal({ dataDir });
  const [lease, other] = [await startLog(journal), await startLog(journal)];
  const events = Array.from({ length: 300 }, (_, index) => sampleEvent(index + 1, { minLength: 1000 }));
  for (const { conversationId, generation } of [lease, other]) {
    await journal.append({ conversationId, generation }, { expectedSeq: 0, events });
  }
  await journal[Symbol.asyncDispose]();
  damagePageOf(join(dataDir, "journal.db"), events[149]?.json ?? "");

  await using reopened = await openJournal({ dataDir });
  const read = await reopened.read(lease.conversationId, 0, 300);
  expect(read.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  const damaged = read.filter(({ json }) => json === "");
  expect(damaged.map(({ seq }) => seq)).toContain(150);
  expect(damaged.length).toBeLessThan(17);
  const ids = read.map(({ id }) => id);
  expect(ids).toEqual(ids.toSorted());
  const page = await reopened.search(lease.conversationId, {
    order: "TIMESTAMP_DESC",
    limit: 100,
    kind: "ActionEvent",
    pageId: events[200]?.id ?? "",
  });
  expect(page.items.filter((json) => json.includes("EventDamaged")).length).toBeGreaterThan(0);
  expect(await reopened.read(other.conversationId, 0, 300)).toHaveLength(300);
});

/** Overwrites the header of the page on which the first log has the text. */
function damagePageOf(path: string, text: string): void {
  const database = new DatabaseSync(path);
  // The same text may also be left on pages that are free again.
  const pages = database
    .prepare("SELECT pageno FROM dbstat WHERE name = 'events' AND pagetype = 'leaf'")
    .all();
  database.close();
  const content = readFileSync(path);
  const start = pages
    .map((page) => (Number(page["pageno"]) - 1) * pageSize)
    .find((offset) => content.subarray(offset, offset + pageSize).includes(text));
  expect(start).toBeDefined();
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(8, 0xff), 0, 8, start ?? 0);
  closeSync(file);
}

const pageSize = 16_384;

test("P27 P1: a reader gets the log in order while it changes hands between processes, whatever the tail keeps", async () => {
  const dataDir = join(folder, "hands");
  await using here = await openJournal({ dataDir });
  await using there = await openJournal({ dataDir });
  const conversationId = (await startLog(here)).conversationId;
  const seqs: number[] = [];
  const reading = (async () => {
    const signal = AbortSignal.timeout(60_000);
    for await (const events of follow(here, conversationId, { afterSeq: 0, signal })) {
      seqs.push(...events.map(({ seq }) => seq));
      if (seqs.length >= 40) return;
    }
  })();
  for (let seq = 0; seq < 40;) {
    const owner = seq % 20 < 10 ? here : there;
    const lease = await owner.claim(conversationId);
    for (let count = 0; count < 10; count += 2, seq += 2) {
      await owner.append(lease, { expectedSeq: seq, events: [sampleEvent(seq + 1), sampleEvent(seq + 2)] });
    }
    await owner.release(lease);
  }
  await reading;
  expect(seqs).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
});
