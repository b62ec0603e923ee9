import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sampleConversation, sampleEvent } from "../../sample-events.ts";
import { openReaderDatabase } from "../schema.ts";
import { openSqliteJournal } from "../sqlite-journal.ts";
import { TextIndexer } from "./indexer.ts";
import { openTextsReader, openTextsWriter } from "./tables.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "convoke-indexer-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ids = ["a", "b", "c", "d"];

test("S11: logs that are read one after another share a transaction, until the time is over", async () => {
  await using journal = await openSqliteJournal(folder, { indexAfterMs: null });
  for (const id of ids) {
    const lease = await journal.createClaimed(sampleConversation(id));
    const event = sampleEvent(1, { kind: "MessageEvent", text: `said in ${id}` });
    await journal.append(lease!, { expectedSeq: 0, events: [event] });
  }
  const path = join(folder, "texts.db");
  using logs = openReaderDatabase(join(folder, "journal.db"));
  using texts = openTextsWriter(path);
  using beside = openTextsReader(path)!;
  const indexer = new TextIndexer(logs, texts);
  let calls = 0;
  const before = commits(beside);
  expect(indexer.runSlice(ids, () => (calls += 1) >= 2)).toEqual(["a", "b"]);
  expect(commits(beside)).toBe(before + 1);
  expect(indexer.runSlice(ids, () => false)).toEqual(ids);
  expect(commits(beside)).toBe(before + 2);
  expect(beside.prepare("SELECT count(*) AS count FROM blocks").get()).toEqual({ count: 4 });
});

/** Grows when another connection commits. */
function commits(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA data_version").get()?.["data_version"]);
}
