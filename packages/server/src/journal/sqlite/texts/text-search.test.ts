import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Journal, TextMatch } from "../../journal.ts";
import { sampleConversation, sampleEvent } from "../../sample-events.ts";
import { openSqliteJournal } from "../sqlite-journal.ts";
import { tickMicros } from "./tables.ts";
import { takeWriterThread } from "../../../testing/pooled-writers.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "convoke-texts-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Nothing is indexed before the first search. */
const open = (): Promise<Journal> =>
  openSqliteJournal(folder, { indexAfterMs: null, thread: takeWriterThread() });
const path = (): string => join(folder, "texts.db");

/** Says texts in one conversation, so many microseconds apart. */
async function say(journal: Journal, id: string, texts: readonly string[], apartMicros = 10): Promise<void> {
  await journal.createConversation(sampleConversation(id));
  const events = texts.map((text, index) => {
    const event = sampleEvent(index + 1, { kind: "MessageEvent", text });
    return { ...event, timestampMicros: event.timestampMicros + index * apartMicros };
  });
  await journal.append(await journal.claim(id), { expectedSeq: 0, events });
}

/** What all pages give, once everything has been read. */
async function find(journal: Journal, term: string, limit = 7): Promise<TextMatch[]> {
  const query = { ownerId: "owner", terms: [term], limit };
  await vi.waitFor(async () => expect((await journal.searchTexts(query)).isComplete).toBe(true), {
    timeout: 120_000,
    interval: 20,
  });
  const found: TextMatch[] = [];
  for (let pageId: string | null | undefined; pageId !== null;) {
    const page = await journal.searchTexts({ ...query, ...(pageId === undefined ? {} : { pageId }) });
    found.push(...page.items);
    pageId = page.nextPageId;
  }
  return found;
}

test("S11: a folder without an index gets one, and what came while nobody read is read once", async () => {
  {
    await using journal = await open();
    await say(journal, "old", ["needle one", "other", "needle two"]);
  }
  expect(existsSync(path())).toBe(false);
  for (let round = 0; round < 3; round += 1) {
    await using journal = await open();
    if (round === 1) await say(journal, "new", ["needle three"]);
    expect(await find(journal, "needle")).toHaveLength(round === 0 ? 2 : 3);
  }
});

test("P7: an index that is damaged is made again, and no answer fails", async () => {
  {
    await using journal = await open();
    await say(journal, "some", ["needle"]);
    await find(journal, "needle");
  }
  writeFileSync(path(), Buffer.alloc(64 * 1024, "damage"));
  await using journal = await open();
  expect(await find(journal, "needle")).toHaveLength(1);
});

test("P7: an event that cannot be read any more is left out, the others are found", async () => {
  {
    await using journal = await open();
    await say(journal, "some", ["needle one", "needle two", "needle three"]);
  }
  {
    using database = new DatabaseSync(join(folder, "journal.db"));
    database.exec("UPDATE events SET json = replace(json, 'needle two', 'needle too')");
    database.exec("UPDATE recent SET json = replace(json, 'needle two', 'needle too')");
  }
  await using journal = await open();
  expect((await find(journal, "needle")).map(({ text }) => text)).toEqual(["needle three", "needle one"]);
});

test("S11: an older state of a data folder is read again, with nothing of the newer one", async () => {
  {
    await using journal = await open();
    await say(journal, "some", ["needle of before"]);
    await find(journal, "needle");
  }
  for (const end of ["", "-wal", "-shm"]) rmSync(join(folder, `journal.db${end}`), { force: true });
  await using journal = await open();
  await say(journal, "another", ["needle of now"]);
  expect((await find(journal, "needle")).map(({ text }) => text)).toEqual(["needle of now"]);
});

test("S11: days between events and thousands in one instant keep the order", async () => {
  await using journal = await open();
  const day = 86_400_000_000;
  const slow = Array.from({ length: 12 }, (_, index) => `needle day ${index}`);
  await say(journal, "slow", slow, day);
  // Their blocks would all have the same id.
  const crowds = Array.from({ length: 40 }, (_, log) => `crowd-${log}`);
  const texts = Array.from({ length: 70 }, (_, index) => `crowd ${index}`);
  for (const id of crowds) await say(journal, id, [...texts, "needle at first"], tickMicros / 1000);
  const found = await find(journal, "needle");
  expect(found).toHaveLength(slow.length + crowds.length);
  expect(found.slice(0, 11).map(({ text }) => text)).toEqual(slow.slice(1).toReversed());
  const times = found.map(({ timestampMicros }) => timestampMicros);
  expect(times).toEqual(times.toSorted((left, right) => right - left));
  expect(await find(journal, "crowd", 500)).toHaveLength(70 * crowds.length);
});

test("S11: a page that looked at much in vain ends, and the next ones go on to what there is", async () => {
  await using journal = await open();
  const hour = 3_600_000_000;
  // All grams of what is looked for, in each block, and hardly ever side by side.
  const vain = Array.from({ length: 260 }, () => "nee eed edl dle");
  await say(journal, "vain", ["needle at first", ...vain, "needle at last"], 2 * hour);
  const query = { ownerId: "owner", terms: ["needle"], limit: 7 };
  expect((await find(journal, "needle")).map(({ text }) => text)).toEqual([
    "needle at last",
    "needle at first",
  ]);
  const { items, nextPageId } = await journal.searchTexts(query);
  expect(items).toHaveLength(1);
  expect(nextPageId).not.toBeNull();
});
