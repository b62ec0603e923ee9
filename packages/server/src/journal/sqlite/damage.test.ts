import { randomUUID } from "node:crypto";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { untilRead } from "../contract-texts.ts";
import { startLog } from "../contract.ts";
import type { Journal } from "../journal.ts";
import { openJournal } from "../open-journal.ts";
import { isDamage } from "../../lib/storage-fault.ts";
import { sampleEvent } from "../sample-events.ts";
import { checkJournal } from "./check.ts";
import { takeWriterThread } from "../../testing/pooled-writers.ts";

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "convoke-damage-"));
});
afterEach(async () => {
  await rm(dataDir, { recursive: true, force: true });
});

const length = 40;
const events = Array.from({ length }, (_, index) =>
  sampleEvent(index + 1, {
    kind: index % 2 === 0 ? "MessageEvent" : "ActionEvent",
    source: index % 2 === 0 ? "user" : "agent",
    text: index % 2 === 0 ? `needle ${index}` : null,
    meta: '{"note":1}',
  }),
);

/** A log of which something is changed behind the journal's back. */
async function openDamaged(change: string, values: readonly (string | number)[] = []): Promise<Opened> {
  const journal = await openJournal({ dataDir, thread: takeWriterThread() });
  const lease = await startLog(journal);
  await journal.append(lease, { expectedSeq: 0, events });
  await journal[Symbol.asyncDispose]();
  {
    using database = new DatabaseSync(join(dataDir, "journal.db"));
    const { number } = database.prepare("SELECT number FROM conversations").get() as { number: number };
    database.prepare(change.replaceAll("$base", String(number * 2 ** 28))).run(...values);
  }
  return { id: lease.conversationId, journal: await openJournal({ dataDir, thread: takeWriterThread() }) };
}
type Opened = { readonly id: string; readonly journal: Journal };

/** All events, in pages of seven, as a client gets them. */
async function readPages({ id, journal }: Opened, order: "TIMESTAMP" | "TIMESTAMP_DESC"): Promise<string[]> {
  const items: string[] = [];
  for (let pageId: string | null | undefined; pageId !== null;) {
    const page = await journal.search(id, { order, limit: 7, ...(pageId === undefined ? {} : { pageId }) });
    items.push(...page.items);
    pageId = page.nextPageId;
  }
  return items;
}

const isDamaged = (json: string): boolean => json.includes('"EventDamaged"');

test.each([
  [
    "changed, and still JSON",
    "UPDATE events SET json = replace(json, 'detail', 'detaiL') WHERE position = $base + 9",
  ],
  ["gone", "DELETE FROM events WHERE position = $base + 9"],
  [
    "moved over another",
    "UPDATE events SET json = (SELECT json FROM events WHERE position = $base + 10) WHERE position = $base + 9",
  ],
])(
  "P7, F5: an event that is %s has a stand-in in its place; count, pages and log agree",
  async (_, change) => {
    const opened = await openDamaged(change);
    await using journal = opened.journal;
    const { id } = opened;
    const read = await journal.read(id, 0, 100);
    expect(read.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index + 1));
    expect(read.filter(({ json }) => json === "").map(({ seq }) => seq)).toEqual([9]);
    expect(read.map((event) => event.id)).toEqual(read.map((event) => event.id).toSorted());
    expect(new Set(read.map((event) => event.id)).size).toBe(length);
    const ascending = await readPages(opened, "TIMESTAMP");
    expect(ascending).toHaveLength(length);
    expect(ascending.findIndex(isDamaged)).toBe(8);
    expect((await readPages(opened, "TIMESTAMP_DESC")).toReversed()).toEqual(ascending);
    expect(await journal.count(id, {})).toBe(length);
    const standIn = read[8]!.id;
    expect(await journal.getEvents(id, [standIn])).toMatchObject([{ seq: 9, json: "" }]);
    const from = await journal.search(id, { order: "TIMESTAMP", limit: 2, pageId: standIn });
    expect(from.items.map(isDamaged)).toEqual([true, false]);
  },
);

test("P7, F5: several events in a row that are gone, also the first ones, have ids in order", async () => {
  const opened = await openDamaged(
    "DELETE FROM events WHERE position <= $base + 3 OR position BETWEEN $base + 20 AND $base + 26",
  );
  await using journal = opened.journal;
  const read = await journal.read(opened.id, 0, 100);
  expect(read.filter(({ json }) => json === "")).toHaveLength(10);
  const ids = read.map(({ id }) => id);
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(length);
  for (const event of read) expect((await journal.getEvents(opened.id, [event.id]))[0]?.seq).toBe(event.seq);
  expect((await readPages(opened, "TIMESTAMP_DESC")).filter(isDamaged)).toHaveLength(10);
});

test.each([
  ["the lowest", "zeroblob(16)"],
  ["the highest", "x'ffffffffffffffffffffffffffffffff'"],
])(
  "P7, F5: ids of events and of stand-ins are found past ids that are %s and no error to SQLite",
  async (_, id) => {
    const opened = await openDamaged(
      `UPDATE events SET id = ${id}, json = iif(position = $base + 8, '', json) WHERE position IN ($base + 8, $base + 16, $base + 32)`,
    );
    await using journal = opened.journal;
    for (const order of ["TIMESTAMP", "TIMESTAMP_DESC"] as const) {
      const items = await readPages(opened, order);
      expect(items).toHaveLength(length);
      expect(items.filter(isDamaged)).toHaveLength(1);
    }
    for (const event of events.filter((_event, index) => ![8, 16, 32].includes(index + 1)))
      expect((await journal.getEvents(opened.id, [event.id]))[0]?.json).toBe(event.json);
    await expect(
      journal.search(opened.id, { order: "TIMESTAMP", limit: 2, pageId: randomUUID() }),
    ).rejects.toThrow("has no event");
  },
);

test("P7, F5: events that the index of classes lacks, without SQLite noticing, are found in both orders and counted", async () => {
  const opened = await openDamaged("UPDATE events SET id = id WHERE position = $base + 1");
  await opened.journal[Symbol.asyncDispose]();
  {
    using database = new DatabaseSync(join(dataDir, "journal.db"), { defensive: false });
    const { sql } = database
      .prepare("SELECT sql FROM sqlite_schema WHERE name = 'events_by_class'")
      .get() as {
      sql: string;
    };
    // As where a page of it holds what belongs elsewhere: entries are missing, and the index claims to be whole.
    database.exec(`DROP INDEX events_by_class; ${sql} WHERE position % 3 <> 0`);
    database.exec("PRAGMA writable_schema = ON");
    database.prepare("UPDATE sqlite_schema SET sql = ? WHERE name = 'events_by_class'").run(sql);
  }
  await using journal = await openJournal({ dataDir, thread: takeWriterThread() });
  for (const [filter, expected] of [
    [{ kind: "MessageEvent" }, length / 2],
    [{ source: "agent" }, length / 2],
  ] as const) {
    const up = await journal.search(opened.id, { ...filter, order: "TIMESTAMP", limit: 100 });
    const down = await journal.search(opened.id, { ...filter, order: "TIMESTAMP_DESC", limit: 100 });
    expect(up.items).toHaveLength(expected);
    expect(down.items.toReversed()).toEqual(up.items);
    expect(await journal.count(opened.id, filter)).toBe(expected);
  }
});

test("P8, F5: events of an older release, without a checksum, are read, and those that are no JSON are not", async () => {
  const opened = await openDamaged(
    "UPDATE events SET checksum = NULL, json = iif(position = $base + 4, replace(json, ':', ';'), json)",
  );
  await using journal = opened.journal;
  const read = await journal.read(opened.id, 0, 100);
  expect(read.filter(({ json }) => json === "").map(({ seq }) => seq)).toEqual([4]);
});

test("F5: an event is shown when only the note beside it is damaged, and nobody works with the note", async () => {
  const opened = await openDamaged("UPDATE events SET meta = '{\"note\":2}' WHERE position = $base + 6");
  await using journal = opened.journal;
  expect((await readPages(opened, "TIMESTAMP")).filter(isDamaged)).toEqual([]);
  const [sixth] = await journal.readKinds(opened.id, ["ActionEvent"], 6, 6);
  expect(sixth?.meta).toBe("");
});

test.each(["'[1,'", "'[[1,\"needle\"'", "x'00'"])(
  "F5: texts are found also where a block of their index is %s, and the index is made again",
  async (block) => {
    const opened = await openDamaged("UPDATE events SET meta = NULL WHERE position = 0");
    await untilRead(opened.journal);
    await opened.journal[Symbol.asyncDispose]();
    const path = join(dataDir, "texts.db");
    const readBlocks = (): unknown[] => {
      using database = new DatabaseSync(path, { readOnly: true, timeout: 60_000 });
      return database.prepare("SELECT hex(entries) FROM packs").all();
    };
    const before = readBlocks();
    {
      using database = new DatabaseSync(path);
      database.exec(`UPDATE packs SET entries = ${block}`);
    }
    await using journal = await openJournal({ dataDir, thread: takeWriterThread() });
    for (let round = 0; round < 2; round += 1) {
      const found = await journal.search(opened.id, { order: "TIMESTAMP", limit: 100, body: "NEEDLE" });
      expect(found.items).toHaveLength(length / 2);
      expect(await journal.count(opened.id, { body: "needle 3" })).toBe(5);
      await untilRead(journal);
    }
    // The file is missing or empty while the indexer makes it again.
    await expect.poll(readBlocks).toEqual(before);
  },
);

test("P57: a journal of a development version is refused, not called damaged", async () => {
  await (await openJournal({ dataDir, thread: takeWriterThread() }))[Symbol.asyncDispose]();
  const path = join(dataDir, "journal.db");
  {
    using database = new DatabaseSync(path);
    database.exec("DROP INDEX conversations_pinned; DROP INDEX conversations_glance");
    database.exec("ALTER TABLE conversations DROP COLUMN is_pinned");
    database.exec("PRAGMA user_version = 2");
  }
  const check = { path, onDamage: (): never => expect.unreachable(), onProgress: () => {} };
  expect(() => checkJournal(check)).toThrow(
    `The journal ${path} has format 2 of a development version from before the first release: name another data folder, or use the version that made it.`,
  );
});

test("P8, P57: the journal of the first release has what lists filter by; a damaged configuration hides nothing", async () => {
  const golden = join(import.meta.dirname, "../../testing/golden/0.1.0-alpha/data/journal.db");
  await cp(golden, join(dataDir, "journal.db"));
  const ids = ((): string[] => {
    using database = new DatabaseSync(join(dataDir, "journal.db"));
    const rows = database.prepare("SELECT number, id FROM conversations ORDER BY number").all();
    const set = database.prepare("UPDATE conversation_documents SET config = ? WHERE number = ?");
    set.run(
      '{"sandbox_id":"box","parent":{"conversation_id":"mother","action_id":"a"},"tags":{"team":"x"},"workspace":{"working_dir":"/w"}}',
      rows[0]!["number"]!,
    );
    set.run('{"is_copying":true}', rows[1]!["number"]!);
    set.run('{"sandbox_id":', rows[2]!["number"]!);
    database.exec("UPDATE conversations SET sandbox_id = 'box', parent_id = 'mother' WHERE number = 1");
    database.exec("UPDATE conversations SET is_copying = 1 WHERE number = 2");
    return rows.map(({ id }) => String(id));
  })();
  await using journal = await openJournal({ dataDir, thread: takeWriterThread() });
  const nobody = { sandboxId: null, parentId: null, host: null, isCopying: false };
  expect(await journal.getConversations(ids)).toMatchObject([
    { ...nobody, sandboxId: "box", parentId: "mother" },
    { ...nobody, isCopying: true },
    nobody,
  ]);
  const { ownerId } = (await journal.getConversation(ids[0]!))!;
  const filter = { ownerId, limit: 10, workingDir: "/w", tag: { key: "team", value: "x" } };
  expect((await journal.searchSummaries(filter)).items.map(({ id }) => id)).toEqual([ids[0]]);
  // A fork that is not whole is nowhere; a damaged configuration hides nothing.
  const all = (await journal.searchSummaries({ ownerId, limit: 100 })).items.map(({ id }) => id);
  expect(all).toContain(ids[2]);
  expect(all).not.toContain(ids[1]);
  const read = await journal.read(ids[0]!, 0, 100);
  expect(read.length).toBeGreaterThan(0);
  expect(read.filter(({ json }) => json === "")).toEqual([]);
});

test("P7, M1: a log whose row tells of events that are gone is damaged, not empty, and nothing is added to it", async () => {
  const opened = await openDamaged("DELETE FROM events");
  await opened.journal[Symbol.asyncDispose]();
  {
    using database = new DatabaseSync(join(dataDir, "journal.db"));
    database.exec("UPDATE conversation_documents SET snapshot_seq = 28");
  }
  await using journal = await openJournal({ dataDir, thread: takeWriterThread() });
  const { id } = opened;
  expect(await journal.lastSeq(id)).toBe(28);
  expect(await journal.getConversation(id)).toMatchObject({ lastSeq: 28 });
  expect(await journal.count(id, {})).toBe(28);
  expect((await readPages({ id, journal }, "TIMESTAMP")).filter(isDamaged)).toHaveLength(28);
  const lease = await journal.claim(id);
  for (const expectedSeq of [0, 28]) {
    const error: unknown = await journal
      .append(lease, { expectedSeq, events: [sampleEvent(expectedSeq + 1)] })
      .catch((caught: unknown) => caught);
    expect(isDamage(error)).toBe(true);
  }
});

test("P7: an end that does not follow the event before it counts only with its checksum", async () => {
  const opened = await openDamaged("UPDATE events SET position = $base + 100000 WHERE position = $base + 40");
  await using journal = opened.journal;
  expect(await journal.lastSeq(opened.id)).toBe(39);
  expect(await journal.read(opened.id, 0, 100)).toHaveLength(39);
});

test("P7: a list has the conversations whose rows can be read, whatever is damaged beside them", async () => {
  const opened = await openDamaged("DELETE FROM conversation_documents");
  await using journal = opened.journal;
  const { items } = await journal.searchConversations({ sort: "CREATED_AT", limit: 10 });
  expect(items).toMatchObject([{ id: opened.id, config: "", lastSeq: length }]);
});
