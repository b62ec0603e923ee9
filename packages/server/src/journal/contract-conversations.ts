import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  LeaseLostError,
  UnknownPageError,
  type ConversationQuery,
  noMarks,
  type ConversationRow,
  type Journal,
} from "./journal.ts";
import { sampleConversation, sampleEvent } from "./sample-events.ts";
import { allItems } from "./contract-pages.ts";

/** The part of the contract about conversation rows. */
export function describeConversations(journal: () => Journal): void {
  describe("conversations", () => {
    test("a row is created once and comes back as it was given", async () => {
      const row = sampleConversation(randomUUID(), {
        title: "Größe",
        isActive: true,
        config: '{"a":1}',
        sealedSecrets: "sealed",
        snapshot: "{}",
      });
      expect(await journal().createConversation(row)).toBe(true);
      expect(await journal().createConversation({ ...row, title: "other" })).toBe(false);
      expect(await journal().getConversation(row.id)).toEqual({ ...row, lastSeq: 0, marks: noMarks });
      expect(await journal().getConversation(randomUUID())).toBeNull();
      expect(await journal().ownerOf(row.id)).toBe(row.ownerId);
      expect(await journal().ownerOf(randomUUID())).toBeNull();
      const copying = sampleConversation(randomUUID(), { isCopying: true });
      await journal().createConversation(copying);
      expect(await journal().ownerOf(copying.id)).toBeNull();
      expect(await journal().head(row.id)).toMatchObject({ lastSeq: 0, ownerId: row.ownerId });
      expect(await journal().head(randomUUID())).toBeNull();
      expect(await journal().head(copying.id)).toMatchObject({ ownerId: null });
      expect(await journal().getConversations([randomUUID(), row.id])).toEqual([
        null,
        { ...row, lastSeq: 0, marks: noMarks },
      ]);
    });

    test("every field of a patch is written, and only those", async () => {
      const row = sampleConversation(randomUUID(), {
        title: "first",
        sealedSecrets: "sealed",
        snapshot: "{}",
      });
      await journal().createConversation(row);
      const lease = await journal().claim(row.id);
      const patches = [
        { title: null },
        { executionStatus: "running", isActive: true },
        { updatedAtMicros: 2_000_000 },
        { config: "[]", sealedSecrets: null },
        { snapshot: null, snapshotSeq: 3 },
      ];
      // A row is never ahead of its log.
      const events = [1, 2, 3].map((seq) => sampleEvent(seq));
      await journal().append(lease, { expectedSeq: 0, events });
      let expected: ConversationRow = { ...row, lastSeq: 3, marks: noMarks };
      for (const conversation of patches) {
        await journal().append(lease, { expectedSeq: 3, events: [], conversation });
        expected = { ...expected, ...conversation };
        expect(await journal().getConversation(row.id)).toEqual(expected);
      }
    });

    test("the active ones of others are listed with their owner, and one's own are not", async () => {
      const [owned, free, idle, copying] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
      for (const [id, isActive] of [
        [owned, true],
        [free, true],
        [idle, false],
      ] as const)
        await journal().createConversation(sampleConversation(id, { isActive }));
      await journal().claim(owned);
      await journal().createClaimed(sampleConversation(copying, { isActive: true, isCopying: true }));
      const listed = await journal().listActiveElsewhere();
      expect(listed.filter(({ id }) => id === owned || id === free || id === idle)).toEqual([
        { id: free, nodeId: null },
      ]);
      const here = await journal().listActiveHere();
      expect(here.filter((id) => new Set<string>([owned, free, idle, copying]).has(id))).toEqual([
        owned,
        copying,
      ]);
    });

    test("several are claimed at once, each as if alone, and what is not there is told", async () => {
      const [made, owned] = [randomUUID(), randomUUID()];
      await journal().createConversation(sampleConversation(made));
      await journal().createConversation(sampleConversation(owned));
      const before = await journal().claim(owned);
      const claims = await journal().claimMany([owned, randomUUID(), made]);
      expect(claims).toMatchObject([
        { conversationId: owned, generation: before.generation + 1 },
        null,
        { conversationId: made, generation: 1 },
      ]);
      await expect(journal().append(before, { expectedSeq: 0, events: [sampleEvent(1)] })).rejects.toThrow(
        LeaseLostError,
      );
      for (const claim of claims) {
        if (claim === null || claim instanceof Error) continue;
        await journal().append(claim, { expectedSeq: 0, events: [sampleEvent(1)] });
        expect(await journal().lastSeq(claim.conversationId)).toBe(1);
      }
      expect(await journal().claimMany([])).toEqual([]);
    });

    test("P38: lists are filtered, sorted and paged like a plain array", async () => {
      const owners = [randomUUID(), randomUUID()];
      const rows = Array.from({ length: 60 }, (_, index) =>
        sampleConversation(randomUUID(), {
          ownerId: owners[index % 3 === 0 ? 0 : 1] ?? "",
          executionStatus: ["idle", "running", "paused"][index % 4] ?? "idle",
          // Equal times are usual and must not lose or repeat a row.
          createdAtMicros: 5_000_000 + Math.floor(index / 7),
          updatedAtMicros: 9_000_000 - Math.floor(index / 5),
        }),
      );
      for (const row of rows) await journal().createConversation(row);
      for (const ownerId of owners) {
        for (const executionStatus of [undefined, "idle", "paused", "unheard"]) {
          const filter = { ownerId, ...(executionStatus === undefined ? {} : { executionStatus }) };
          const matching = rows.filter(
            (row) =>
              row.ownerId === ownerId && (executionStatus ?? row.executionStatus) === row.executionStatus,
          );
          expect(await journal().countConversations(filter)).toBe(matching.length);
          for (const sort of ["CREATED_AT", "CREATED_AT_DESC", "UPDATED_AT", "UPDATED_AT_DESC"] as const) {
            const wanted = sortPlainly(matching, sort).map(({ id }) => id);
            for (const limit of [1, 7, 100]) {
              expect(await pageThrough(journal(), { ...filter, sort, limit })).toEqual(wanted);
            }
          }
        }
      }
    });

    test("P39: what is being copied is in no page and no count, and those of a sandbox are listed alone", async () => {
      const ownerId = randomUUID();
      const rows = Array.from({ length: 30 }, (_, index) =>
        sampleConversation(randomUUID(), {
          ownerId,
          isCopying: index % 3 === 0,
          sandboxId: index % 2 === 0 ? "box" : null,
          executionStatus: index % 5 === 0 ? "paused" : "idle",
          createdAtMicros: 1_000 + index,
        }),
      );
      for (const row of rows) await journal().createConversation(row);
      for (const sandboxId of [undefined, "box", "other"]) {
        const filter = { ownerId, ...(sandboxId === undefined ? {} : { sandboxId }) };
        const wanted = rows.filter(
          (row) => !row.isCopying && (sandboxId === undefined || row.sandboxId === sandboxId),
        );
        expect(await journal().countConversations(filter)).toBe(wanted.length);
        expect(await pageThrough(journal(), { ...filter, sort: "CREATED_AT", limit: 4 })).toEqual(
          wanted.map(({ id }) => id),
        );
      }
      const outside = rows.find((row) => row.sandboxId === null && !row.isCopying)!;
      await expect(
        journal().searchConversations({
          ownerId,
          sandboxId: "box",
          sort: "CREATED_AT",
          limit: 4,
          pageId: outside.id,
        }),
      ).rejects.toThrow(UnknownPageError);
      const copied = rows.find((row) => row.isCopying)!;
      expect(await journal().getConversation(copied.id)).toMatchObject(copied);
      const lease = await journal().claim(copied.id);
      await journal().append(lease, { expectedSeq: 0, events: [], conversation: { isCopying: false } });
      expect((await journal().getConversation(copied.id))?.isCopying).toBe(false);
    });

    test("a page that starts nowhere, or at another owner's row, is refused", async () => {
      const foreign = sampleConversation(randomUUID(), { ownerId: randomUUID() });
      await journal().createConversation(foreign);
      for (const pageId of [randomUUID(), foreign.id]) {
        await expect(
          journal().searchConversations({ ownerId: "owner", sort: "CREATED_AT", limit: 10, pageId }),
        ).rejects.toThrow(UnknownPageError);
      }
    });

    test("a deleted conversation is gone with its events and inbox, and its id can be used again", async () => {
      const row = sampleConversation(randomUUID());
      const second = sampleConversation(randomUUID());
      for (const created of [row, second]) {
        await journal().createConversation(created);
        const lease = await journal().claim(created.id);
        await journal().append(lease, {
          expectedSeq: 0,
          events: Array.from({ length: 70 }, (_, index) =>
            sampleEvent(index + 1, { kind: "MessageEvent", source: "user", text: `delete me ${index}` }),
          ),
          inbox: { clientId: "client", eventId: "event", digest: "digest" },
        });
      }
      const lease = await journal().claim(row.id);
      const head = await journal().head(row.id);
      expect(head?.lastSeq).toBe(70);
      await journal().deleteConversation(lease);
      expect(await journal().head(row.id)).toBeNull();
      const expectNothing = async (): Promise<void> => {
        expect(await journal().lastSeq(row.id)).toBe(0);
        expect(await journal().read(row.id, 0, 10)).toEqual([]);
        expect(await journal().count(row.id, { body: "delete" })).toBe(0);
        expect(await journal().getInboxEntry(row.id, "client")).toBeNull();
      };
      expect(await journal().getConversation(row.id)).toBeNull();
      await expectNothing();
      await expect(journal().append(lease, { expectedSeq: 70, events: [sampleEvent(71)] })).rejects.toThrow(
        LeaseLostError,
      );
      expect(await journal().createConversation(row)).toBe(true);
      const next = await journal().head(row.id);
      expect(next?.lastSeq).toBe(0);
      expect(next?.log).not.toBe(head?.log);
      await expectNothing();
      expect(await journal().count(second.id, { body: "delete" })).toBe(70);
    });
  });
}

function sortPlainly<Row extends { createdAtMicros: number; updatedAtMicros: number }>(
  rows: readonly Row[],
  sort: ConversationQuery["sort"],
): Row[] {
  const key = sort.startsWith("CREATED_AT") ? "createdAtMicros" : "updatedAtMicros";
  // Rows of one time keep the order of their creation.
  const sorted = rows.toSorted((left, right) => left[key] - right[key]);
  return sort.endsWith("_DESC") ? sorted.toReversed() : sorted;
}

async function pageThrough(journal: Journal, query: ConversationQuery): Promise<string[]> {
  const rows = await allItems(query.limit, (pageId) => journal.searchConversations({ ...query, pageId }));
  return rows.map(({ id }) => id);
}
