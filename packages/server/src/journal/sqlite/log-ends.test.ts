import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { Journal } from "../journal.ts";
import { sampleConversation, sampleEvent, sampleId } from "../sample-events.ts";
import { openSqliteJournal } from "./sqlite-journal.ts";

const id = "00000000-0000-4000-8000-000000000001";

test("S20: where a log ends is known from the next look on, whoever of two processes has written", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-ends-"));
  await using own = await openSqliteJournal(folder.path, { indexAfterMs: null });
  await using other = await openSqliteJournal(folder.path, { indexAfterMs: null });
  const heads = async (): Promise<unknown[]> => [await own.head(id), await other.head(id)];
  expect(await heads()).toEqual([null, null]);
  await own.createConversation(sampleConversation(id));
  const [first] = await heads();
  expect(await heads()).toEqual([first, first]);
  for (const [writer, from] of [
    [own, 0],
    [other, 3],
    [own, 6],
  ] as const) {
    await append(writer, from, 3);
    const head = { ...(first as object), lastSeq: from + 3 };
    expect(await heads()).toEqual([head, head]);
    expect(await heads()).toEqual([head, head]);
  }
  await other.deleteConversation(await other.claim(id));
  expect(await heads()).toEqual([null, null]);
});

test("P39: an id is found at its place in a log that grows, at every length around a power of two", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-ends-"));
  await using journal = await openSqliteJournal(folder.path, { indexAfterMs: null, roundSize: 100 });
  await journal.createConversation(sampleConversation(id));
  let size = 0;
  for (const length of [1, 2, 3, 4, 7, 8, 9, 255, 256, 257, 512, 700]) {
    await append(journal, size, length - size);
    size = length;
    const seqs = Array.from({ length: size }, (_, index) => index + 1);
    const found = await journal.getEvents(id, [...seqs, 0, size + 1].map(sampleId));
    expect(found.map((event) => event?.seq ?? null)).toEqual([...seqs, null, null]);
    if (length === 257) journal.releaseMemory();
  }
});

test("a damaged number in the row of a conversation hides no event", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-ends-"));
  {
    await using journal = await openSqliteJournal(folder.path, { indexAfterMs: null });
    await journal.createConversation(sampleConversation(id));
    await append(journal, 0, 3);
  }
  const path = join(folder.path, "journal.db");
  for (const damaged of ["x", Buffer.from("x"), 1.5, -7]) {
    // Damage does not care for the types of columns.
    setStrict(path, false);
    const database = new DatabaseSync(path);
    database.prepare("UPDATE conversation_documents SET snapshot_seq = ?").run(damaged);
    database.close();
    setStrict(path, true);
    await using journal = await openSqliteJournal(folder.path, { indexAfterMs: null });
    expect(await journal.lastSeq(id)).toBe(3);
    expect(await journal.count(id, {})).toBe(3);
    expect(await journal.getConversation(id)).toMatchObject({ lastSeq: 3 });
  }
});

function setStrict(path: string, isStrict: boolean): void {
  using database = new DatabaseSync(path, { defensive: false });
  database.exec("PRAGMA writable_schema = ON");
  const [from, to] = isStrict ? [")", ") STRICT"] : [") STRICT", ")"];
  database
    .prepare(
      `UPDATE sqlite_schema SET sql = substr(sql, 1, length(sql) - ?) || ?
       WHERE name = 'conversation_documents' AND sql LIKE '%' || ?`,
    )
    .run(from.length, to, from);
}

async function append(journal: Journal, expectedSeq: number, count: number): Promise<void> {
  const lease = await journal.claim(id);
  const events = Array.from({ length: count }, (_, index) => sampleEvent(expectedSeq + index + 1));
  await journal.append(lease, { expectedSeq, events });
  await journal.release(lease);
}
