import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Journal } from "../journal.ts";
import { sampleConversation, sampleEvent } from "../sample-events.ts";
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

async function append(journal: Journal, expectedSeq: number, count: number): Promise<void> {
  const lease = await journal.claim(id);
  const events = Array.from({ length: count }, (_, index) => sampleEvent(expectedSeq + index + 1));
  await journal.append(lease, { expectedSeq, events });
  await journal.release(lease);
}
