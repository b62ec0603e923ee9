import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { copyConversation, CopyConflictError } from "./copy-conversation.ts";
import type { Journal, NewEvent } from "../journal/journal.ts";
import { openJournal } from "../journal/open-journal.ts";
import { sampleConversation, sampleEvent, sampleId } from "../journal/sample-events.ts";
import { formatInstant } from "../lib/instant.ts";

const reseal = (sealed: string): string => `${sealed} again`;

/** One whose text says its time, as that of every event does. */
function eventAt(seq: number): NewEvent {
  const event = sampleEvent(seq);
  const timestamp = formatInstant(event.timestampMicros);
  return { ...event, json: JSON.stringify({ ...(JSON.parse(event.json) as object), timestamp }) };
}

/** A log of 1,200 events, in which a client's message is noted now and then. */
async function write(journal: Journal, id: string, count = 1_200): Promise<void> {
  const lease = (await journal.createClaimed(sampleConversation(id, { sealedSecrets: "sealed" })))!;
  for (let seq = 0; seq < count; seq += 100) {
    const events = Array.from({ length: 100 }, (_, index) => eventAt(seq + index + 1));
    const inbox = { clientId: `client-${seq}`, eventId: sampleId(seq + 50), digest: "digest" };
    await journal.append(lease, { expectedSeq: seq, events, inbox });
  }
  await journal.release(lease);
  await journal.markConversation(id, { isPinned: true });
}

async function everythingOf(journal: Journal, id: string): Promise<unknown> {
  const row = await journal.getConversation(id);
  const ids = Array.from({ length: row?.lastSeq ?? 0 }, (_, index) => sampleId(index + 1));
  const inbox = (await journal.listInbox(id)).toSorted((one, other) =>
    one.clientId < other.clientId ? -1 : 1,
  );
  return { row: { ...row, sealedSecrets: null }, events: await journal.getEvents(id, ids), inbox };
}

test("a copy has what the source has, and the second one changes nothing", async () => {
  await using source = await openJournal({ memory: true });
  await using target = await openJournal({ memory: true });
  const id = randomUUID();
  await write(source, id);
  const row = (await source.getConversation(id))!;
  expect(await copyConversation({ source, target, reseal }, row)).toEqual({
    events: 1_200,
    added: 1_200,
    changed: [],
  });
  expect(await everythingOf(target, id)).toEqual(await everythingOf(source, id));
  expect((await target.getConversation(id))?.sealedSecrets).toBe("sealed again");
  const { generation } = await target.claim(id);
  expect(await copyConversation({ source, target, reseal }, row)).toEqual({
    events: 1_200,
    added: 0,
    changed: [],
  });
  expect((await target.claim(id)).generation).toBe(generation + 1);
});

test("an interrupted copy is in no list, and is resumed", async () => {
  await using source = await openJournal({ memory: true });
  await using target = await openJournal({ memory: true });
  const id = randomUUID();
  await write(source, id);
  const row = (await source.getConversation(id))!;
  const append = target.append.bind(target);
  let left = 7;
  target.append = async (lease, batch) => {
    left -= 1;
    if (left < 0) throw new Error("The power is gone.");
    await append(lease, batch);
  };
  await expect(copyConversation({ source, target, reseal }, row)).rejects.toThrow("The power is gone.");
  expect(await target.countConversations({})).toBe(0);
  expect((await target.getConversation(id))?.isActive).toBe(false);
  const there = await target.lastSeq(id);
  expect(there).toBeGreaterThan(0);
  left = Infinity;
  expect(await copyConversation({ source, target, reseal }, row)).toEqual({
    events: 1_200,
    added: 1_200 - there,
    changed: [],
  });
  expect(await everythingOf(target, id)).toEqual(await everythingOf(source, id));
});

test("another log at the target is found, and stays as it is", async () => {
  await using source = await openJournal({ memory: true });
  await using target = await openJournal({ memory: true });
  const [longer, other] = [randomUUID(), randomUUID()];
  for (const id of [longer, other]) await write(source, id, 100);
  await write(target, longer, 200);
  const lease = (await target.createClaimed(sampleConversation(other)))!;
  await target.append(lease, { expectedSeq: 0, events: [{ ...eventAt(1), meta: '{"sawSeq":1}' }] });
  for (const id of [longer, other]) {
    const before = await everythingOf(target, id);
    const row = (await source.getConversation(id))!;
    await expect(copyConversation({ source, target, reseal }, row)).rejects.toThrow(CopyConflictError);
    expect(await everythingOf(target, id)).toEqual(before);
  }
});
