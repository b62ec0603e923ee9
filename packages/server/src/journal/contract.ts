import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeSummaries } from "./contract-summaries.ts";
import { describeAppConversations } from "./contract-app-conversations.ts";
import { describeConversations } from "./contract-conversations.ts";
import { describeSearch } from "./contract-search.ts";
import { describeTexts } from "./contract-texts.ts";
import {
  LeaseLostError,
  SeqConflictError,
  UnknownConversationError,
  type AppendBatch,
  type Journal,
  type Lease,
} from "./journal.ts";
import { sampleConversation, sampleEvent, sampleId } from "./sample-events.ts";

/** What every backend of the journal must do. */
export function describeJournal(name: string, open: () => Promise<Journal>): void {
  describe(`journal contract: ${name}`, () => {
    let journal: Journal;
    beforeAll(async () => {
      journal = await open();
    });
    afterAll(async () => {
      await journal[Symbol.asyncDispose]();
    });
    describeAppends(() => journal);
    describeLeases(() => journal);
    describeConversations(() => journal);
    describeAppConversations(() => journal);
    describeSummaries(() => journal);
    describeSearch(() => journal);
    describeTexts(() => journal);
  });
}

/** A new conversation and its lease. */
export async function startLog(journal: Journal): Promise<Lease> {
  const id = randomUUID();
  await journal.createConversation(sampleConversation(id));
  return await journal.claim(id);
}

function describeAppends(journal: () => Journal): void {
  describe("append", () => {
    test("events get gapless seqs from 1 and come back as they were written", async () => {
      const lease = await startLog(journal());
      const events = [1, 2, 3, 4, 5].map((seq) => sampleEvent(seq, { meta: seq === 2 ? '{"raw":1}' : null }));
      await journal().append(lease, { expectedSeq: 0, events: events.slice(0, 2) });
      await journal().append(lease, { expectedSeq: 2, events: events.slice(2) });

      const stored = events.map(({ id, json }, index) => ({ seq: index + 1, id, json }));
      expect(await journal().read(lease.conversationId, 0, 100)).toEqual(stored);
      expect(await journal().read(lease.conversationId, 2, 2)).toEqual(stored.slice(2, 4));
      expect(await journal().read(lease.conversationId, 5, 100)).toEqual([]);
      expect(await journal().lastSeq(lease.conversationId)).toBe(5);
      expect(
        await journal().getEvents(lease.conversationId, [sampleId(2), sampleId(9), "junk", sampleId(5)]),
      ).toEqual([{ ...stored[1], meta: '{"raw":1}' }, null, null, { ...stored[4], meta: null }]);
    });

    test("a writer that is not at the end of the log conflicts and writes nothing", async () => {
      const lease = await startLog(journal());
      await journal().append(lease, { expectedSeq: 0, events: [sampleEvent(1)] });
      const before = await journal().getConversation(lease.conversationId);
      for (const expectedSeq of [0, 2]) {
        await expect(
          journal().append(lease, {
            expectedSeq,
            events: [sampleEvent(expectedSeq + 1)],
            conversation: { title: "never" },
            inbox: { clientId: "client", eventId: "event", digest: "digest" },
          }),
        ).rejects.toThrow(SeqConflictError);
      }
      expect(await journal().getConversation(lease.conversationId)).toEqual(before);
      expect(await journal().getInboxEntry(lease.conversationId, "client")).toBeNull();
      expect(await journal().lastSeq(lease.conversationId)).toBe(1);
    });

    test("one of many writers at the same place wins, and requests beside it are not hurt", async () => {
      const [contested, calm] = [await startLog(journal()), await startLog(journal())];
      const append = (lease: Lease, expectedSeq: number): Promise<void> =>
        journal().append(lease, { expectedSeq, events: [sampleEvent(expectedSeq + 1)] });
      const results = await Promise.allSettled([
        append(contested, 0),
        append(calm, 0),
        append(contested, 0),
        append(calm, 1),
        append(contested, 0),
        append(calm, 2),
      ]);
      expect(results.map(({ status }) => status)).toEqual([
        "fulfilled",
        "fulfilled",
        "rejected",
        "fulfilled",
        "rejected",
        "fulfilled",
      ]);
      expect(await journal().lastSeq(contested.conversationId)).toBe(1);
      expect(await journal().lastSeq(calm.conversationId)).toBe(3);
    });

    test("P18: events, row changes and the inbox entry commit together; a client id is taken once", async () => {
      const lease = await startLog(journal());
      const batch: AppendBatch = {
        expectedSeq: 0,
        events: [sampleEvent(1)],
        conversation: { title: "named" },
        inbox: { clientId: "client-1", eventId: sampleId(1), digest: "digest-1" },
      };
      await journal().append(lease, batch);
      expect(await journal().getInboxEntry(lease.conversationId, "client-1")).toEqual({
        eventId: sampleId(1),
        digest: "digest-1",
      });
      expect(await journal().listInbox(lease.conversationId)).toEqual([batch.inbox]);
      expect(await journal().getConversation(lease.conversationId)).toMatchObject({
        title: "named",
        lastSeq: 1,
      });

      await expect(
        journal().append(lease, { ...batch, expectedSeq: 1, events: [sampleEvent(2)] }),
      ).rejects.toThrow(SeqConflictError);
      expect(await journal().lastSeq(lease.conversationId)).toBe(1);
      expect(await journal().getInboxEntry(lease.conversationId, "client-2")).toBeNull();
    });

    test("P41: ids and times that do not grow are refused", async () => {
      const lease = await startLog(journal());
      await journal().append(lease, { expectedSeq: 0, events: [sampleEvent(5)] });
      const refused = [
        { ...sampleEvent(6), id: sampleId(5) },
        { ...sampleEvent(6), id: sampleId(4) },
        { ...sampleEvent(6), timestampMicros: sampleEvent(5).timestampMicros },
        { ...sampleEvent(6), id: "not-a-uuid" },
      ];
      for (const event of refused) {
        await expect(journal().append(lease, { expectedSeq: 1, events: [event] })).rejects.toThrow(
          RangeError,
        );
      }
      await expect(
        journal().append(lease, { expectedSeq: 1, events: [sampleEvent(6), sampleEvent(6)] }),
      ).rejects.toThrow(RangeError);
      expect(await journal().lastSeq(lease.conversationId)).toBe(1);
    });

    test("a batch without events changes the row only", async () => {
      const lease = await startLog(journal());
      await journal().append(lease, { expectedSeq: 0, events: [], conversation: { isActive: true } });
      expect(await journal().getConversation(lease.conversationId)).toMatchObject({
        isActive: true,
        lastSeq: 0,
      });
    });

    test("a large event goes through unchanged", async () => {
      const lease = await startLog(journal());
      const event = sampleEvent(1, { minLength: 5_000_000, kind: "MessageEvent", text: 'ünï\n"quoted" \\' });
      await journal().append(lease, { expectedSeq: 0, events: [event] });
      const [stored] = await journal().read(lease.conversationId, 0, 1);
      expect(stored?.json === event.json).toBe(true);
    });

    test("the doorbell rings after the commit, for this conversation only", async () => {
      const [lease, other] = [await startLog(journal()), await startLog(journal())];
      const seen: [rung: number, readable: Promise<number>][] = [];
      const stop = journal().onAppend(lease.conversationId, (lastSeq) => {
        seen.push([lastSeq, journal().lastSeq(lease.conversationId)]);
      });
      await journal().append(lease, { expectedSeq: 0, events: [sampleEvent(1), sampleEvent(2)] });
      await journal().append(other, { expectedSeq: 0, events: [sampleEvent(1)] });
      stop();
      stop();
      // A store that is asked over a network answers later: before the next append.
      const rings = await Promise.all(seen.map(async ([rung, readable]) => [rung, await readable]));
      await journal().append(lease, { expectedSeq: 2, events: [sampleEvent(3)] });
      expect(rings).toEqual([[2, 2]]);
      expect(seen).toHaveLength(1);
    });

    test("listeners hear of each commit of this process when it is durable, and of nothing that failed", async () => {
      const id = randomUUID();
      const received: object[] = [];
      const stop = journal().onCommit(({ type, conversationId, lastSeq, durationMs }) => {
        if (conversationId !== id) return;
        expect(durationMs).toBeGreaterThan(0);
        received.push({ type, lastSeq });
      });
      await journal().createConversation(sampleConversation(id));
      expect(await journal().createConversation(sampleConversation(id))).toBe(false);
      const lease = await journal().claim(id);
      await journal().append(lease, { expectedSeq: 0, events: [sampleEvent(1), sampleEvent(2)] });
      await expect(journal().append(lease, { expectedSeq: 0, events: [sampleEvent(3)] })).rejects.toThrow(
        SeqConflictError,
      );
      await journal().deleteConversation(lease);
      stop();
      stop();
      await journal().createConversation(sampleConversation(id));
      expect(received).toEqual([
        { type: "created", lastSeq: 0 },
        { type: "appended", lastSeq: 2 },
        { type: "deleted", lastSeq: 0 },
      ]);
    });
  });
}

function describeLeases(journal: () => Journal): void {
  describe("leases", () => {
    test("P27: a replaced lease is fenced from append, delete and release", async () => {
      const stale = await startLog(journal());
      const lease = await journal().claim(stale.conversationId);
      expect(lease.generation).toBeGreaterThan(stale.generation);
      await expect(journal().append(stale, { expectedSeq: 0, events: [sampleEvent(1)] })).rejects.toThrow(
        LeaseLostError,
      );
      await expect(journal().deleteConversation(stale)).rejects.toThrow(LeaseLostError);
      await journal().release(stale);
      await journal().append(lease, { expectedSeq: 0, events: [sampleEvent(1)] });
      expect(await journal().lastSeq(lease.conversationId)).toBe(1);
    });

    test("a released lease no longer writes, and the next one is above it", async () => {
      const lease = await startLog(journal());
      await journal().release(lease);
      await expect(journal().append(lease, { expectedSeq: 0, events: [sampleEvent(1)] })).rejects.toThrow(
        LeaseLostError,
      );
      expect((await journal().claim(lease.conversationId)).generation).toBeGreaterThan(lease.generation);
    });

    test("a conversation that is created claimed is written to at once, and stands as any other", async () => {
      const row = sampleConversation(randomUUID());
      const received: string[] = [];
      const stop = journal().onCommit(({ type, conversationId }) => {
        if (conversationId === row.id) received.push(type);
      });
      const lease = await journal().createClaimed(row);
      stop();
      expect(received).toEqual(["created"]);
      expect(lease).toMatchObject({ conversationId: row.id });
      await journal().append(lease!, { expectedSeq: 0, events: [sampleEvent(1)] });
      expect(await journal().getConversation(row.id)).toMatchObject({ ...row, lastSeq: 1 });
      expect((await journal().claim(row.id)).generation).toBeGreaterThan(lease!.generation);
    });

    test("P18: the first events of a conversation come with its row, in one commit", async () => {
      const row = sampleConversation(randomUUID(), { title: "before" });
      const received: object[] = [];
      const stop = journal().onCommit(({ type, conversationId, lastSeq }) => {
        if (conversationId === row.id) received.push({ type, lastSeq });
      });
      const first: AppendBatch = {
        expectedSeq: 0,
        events: [sampleEvent(1), sampleEvent(2, { kind: "MessageEvent", source: "user", text: "Go." })],
        conversation: { executionStatus: "running", isActive: true, updatedAtMicros: 3_000_000 },
        inbox: { clientId: "client-1", eventId: sampleId(2), digest: "digest-1" },
      };
      const lease = await journal().createClaimed(row, first);
      stop();
      expect(received).toEqual([
        { type: "created", lastSeq: 0 },
        { type: "appended", lastSeq: 2 },
      ]);
      expect(await journal().getConversation(row.id)).toMatchObject({
        ...row,
        ...first.conversation,
        lastSeq: 2,
      });
      expect(await journal().listInbox(row.id)).toEqual([first.inbox]);
      expect(await journal().count(row.id, { body: "go" })).toBe(1);
      await journal().append(lease!, { expectedSeq: 2, events: [sampleEvent(3)] });
      expect((await journal().read(row.id, 0, 10)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    });

    test("P18: who may not append the first events has created nothing", async () => {
      const id = randomUUID();
      const wrong = [
        { expectedSeq: 1, events: [sampleEvent(1)] },
        { expectedSeq: 0, events: [sampleEvent(1), sampleEvent(1)] },
        { expectedSeq: 0, events: [{ ...sampleEvent(1), id: "not-a-uuid" }] },
      ];
      const beside = await startLog(journal());
      const [refused] = await Promise.all([
        Promise.allSettled(wrong.map((first) => journal().createClaimed(sampleConversation(id), first))),
        journal().append(beside, { expectedSeq: 0, events: [sampleEvent(1)] }),
      ]);
      expect(refused.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
      expect(await journal().getConversation(id)).toBeNull();
      expect(await journal().lastSeq(beside.conversationId)).toBe(1);
      const lease = await journal().createClaimed(sampleConversation(id), {
        expectedSeq: 0,
        events: [sampleEvent(1)],
      });
      await journal().append(lease!, { expectedSeq: 1, events: [sampleEvent(2)] });
    });

    test("P27: the first events of an id that is taken are written nowhere", async () => {
      const lease = await startLog(journal());
      const row = sampleConversation(lease.conversationId, { title: "other" });
      const first: AppendBatch = {
        expectedSeq: 0,
        events: [sampleEvent(1)],
        conversation: { isActive: true },
      };
      expect(await journal().createClaimed(row, first)).toBeNull();
      expect(await journal().getConversation(row.id)).toMatchObject({
        title: null,
        isActive: false,
        lastSeq: 0,
      });
      await journal().append(lease, { expectedSeq: 0, events: [sampleEvent(1)] });
    });

    test("P27: who asks for an id that is taken gets no lease, and its owner keeps theirs", async () => {
      const lease = await startLog(journal());
      expect(await journal().createClaimed(sampleConversation(lease.conversationId))).toBeNull();
      await journal().append(lease, { expectedSeq: 0, events: [sampleEvent(1)] });
    });

    test("nothing can be claimed that does not exist", async () => {
      await expect(journal().claim(randomUUID())).rejects.toThrow(UnknownConversationError);
    });
  });
}
