import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { UnknownPageError, type ConversationRow, type SummaryFilter, type Journal } from "./journal.ts";
import { sampleConversation, sampleEvent } from "./sample-events.ts";
import { allItems } from "./contract-pages.ts";

const titles = [null, "Fix the parser", "fix 100%_of it", "Größe ändern", "a\\b"];
const folders = ["/work", "/other"];
const tags = [{}, { team: "search" }, { team: 'se"arch', x: "" }, { 'te"am': "search" }];
const statuses = ["idle", "running", "finished"];

/** The part of the contract about lists for people. */
export function describeSummaries(journal: () => Journal): void {
  describe("summaries", () => {
    test("P39: every filter gives exactly what a plain reading gives, page by page, the last changed first", async () => {
      const ownerId = randomUUID();
      const parents: string[] = [];
      const marked: ConversationRow[] = [];
      for (let index = 0; index < 60; index += 1) {
        const row = sampleConversation(randomUUID(), {
          ownerId: index % 7 === 6 ? `${ownerId}-other` : ownerId,
          title: titles[index % titles.length]!,
          executionStatus: statuses[index % 3]!,
          updatedAtMicros: 1_000_000 + (index % 10),
          isCopying: index % 11 === 10,
          parentId: index % 4 === 3 ? parents[0]! : null,
          config: JSON.stringify({
            workspace: { working_dir: folders[index % 2] },
            tags: tags[(index * 3) % tags.length],
          }),
        });
        parents.push(row.id);
        await journal().createConversation(row);
        const marks = { isPinned: index % 5 === 0, isArchived: index % 6 === 0, readEventId: null };
        await journal().markConversation(row.id, marks);
        marked.push({ ...row, lastSeq: 0, marks });
      }
      const filter = fc.record(
        {
          titleParts: fc.subarray(["FIX", "100%", "a\\", "zzz", "_"], { maxLength: 2 }),
          tag: fc.constantFrom(
            { key: "team", value: null },
            { key: "team", value: "search" },
            { key: "team", value: 'se"arch' },
            { key: "x", value: "" },
          ),
          workingDir: fc.constantFrom(...folders),
          statuses: fc.array(fc.constantFrom(...statuses), { maxLength: 5 }),
          isArchived: fc.boolean(),
          isPinned: fc.boolean(),
          parentId: fc.constantFrom(null, parents[0]!),
          updatedGteMicros: fc.integer({ min: 999_999, max: 1_000_010 }),
        },
        { requiredKeys: [] },
      );
      await fc.assert(
        fc.asyncProperty(filter, fc.integer({ min: 1, max: 9 }), async (given, limit) => {
          const expected = marked.filter((row) => row.ownerId === ownerId && isIn(row, given));
          const found = await allItems(limit, (pageId) =>
            journal().searchSummaries({ ...given, ownerId, limit, pageId }),
          );
          expect(found.map(({ id }) => id).sort()).toEqual(expected.map(({ id }) => id).sort());
          const times = found.map(({ updatedAtMicros }) => updatedAtMicros);
          expect(times).toEqual(times.toSorted((one, other) => other - one));
        }),
        { numRuns: 150 },
      );
      const other = marked.find((row) => row.ownerId !== ownerId && !row.isCopying)!;
      await expect(journal().searchSummaries({ ownerId, limit: 5, pageId: other.id })).rejects.toThrow(
        UnknownPageError,
      );
    });

    test("tags and folder are those of the configuration, also after it changed", async () => {
      const ownerId = randomUUID();
      const config = (tag: string): string => JSON.stringify({ tags: { [tag]: "1" } });
      const row = sampleConversation(randomUUID(), { ownerId, config: config("old") });
      await journal().createConversation(row);
      const lease = await journal().claim(row.id);
      await journal().append(lease, { expectedSeq: 0, events: [], conversation: { config: config("new") } });
      const found = async (key: string): Promise<number> =>
        (await journal().searchSummaries({ ownerId, limit: 5, tag: { key, value: null } })).items.length;
      expect([await found("old"), await found("new")]).toEqual([0, 1]);
      // What is damaged is listed all the same.
      await journal().append(lease, { expectedSeq: 0, events: [], conversation: { config: "{" } });
      expect((await journal().searchSummaries({ ownerId, limit: 5 })).items).toHaveLength(1);
    });

    test("S7: another owner takes a conversation out of the lists, counts and searches of the one before", async () => {
      const [before, after] = [randomUUID(), randomUUID()];
      const row = sampleConversation(randomUUID(), { ownerId: before });
      await journal().createConversation(row);
      const lease = await journal().claim(row.id);
      const events = [1, 2, 3].map((seq) => sampleEvent(seq, { minLength: 1_000 }));
      await journal().append(lease, { expectedSeq: 0, events });
      expect(await journal().sizeOf(row.id)).toBe(3_000);
      expect(await journal().sizeOf(randomUUID())).toBe(0);
      expect(await journal().markConversation(row.id, { ownerId: after })).toBe(true);
      expect(await journal().ownerOf(row.id)).toBe(after);
      for (const [ownerId, count] of [
        [before, 0],
        [after, 1],
      ] as const) {
        expect(await journal().countConversations({ ownerId })).toBe(count);
        expect((await journal().searchSummaries({ ownerId, limit: 5 })).items).toHaveLength(count);
        const page = await journal().searchConversations({ ownerId, sort: "CREATED_AT", limit: 5 });
        expect(page.items).toHaveLength(count);
      }
      expect(await journal().head(row.id)).toMatchObject({ ownerId: after, lastSeq: 3 });
    });

    test("S6: marks change alone, the place that was read only moves forward, and nobody needs the lease", async () => {
      const row = sampleConversation(randomUUID());
      await journal().createConversation(row);
      await journal().claim(row.id);
      const types: string[] = [];
      const stop = journal().onCommit(({ type, conversationId }) => {
        if (conversationId === row.id) types.push(type);
      });
      const [early, late] = ["0198a000-0000-7000-8000-000000000001", "0198a000-0000-7000-8000-000000000002"];
      for (const marks of [
        { isPinned: true },
        { readEventId: late },
        { readEventId: early },
        { isArchived: true },
      ])
        expect(await journal().markConversation(row.id, marks)).toBe(true);
      stop();
      const marks = { isPinned: true, isArchived: true, readEventId: late };
      expect(await journal().getConversation(row.id)).toMatchObject({
        marks,
        updatedAtMicros: row.updatedAtMicros,
      });
      expect(types).toEqual(["marked", "marked", "marked", "marked"]);
      expect(await journal().markConversation(randomUUID(), { isPinned: true })).toBe(false);
    });
  });
}

function isIn(row: ConversationRow, filter: SummaryFilter): boolean {
  const config = JSON.parse(row.config) as {
    workspace: { working_dir: string };
    tags: Record<string, string>;
  };
  const {
    titleParts = [],
    tag,
    workingDir,
    statuses: wanted = [],
    isArchived,
    isPinned,
    parentId,
    updatedGteMicros,
  } = filter;
  return (
    !row.isCopying &&
    titleParts.every((part) => (row.title ?? "").toLowerCase().includes(part.toLowerCase())) &&
    (tag === undefined ||
      (tag.value === null ? tag.key in config.tags : config.tags[tag.key] === tag.value)) &&
    (workingDir === undefined || config.workspace.working_dir === workingDir) &&
    (wanted.length === 0 || wanted.includes(row.executionStatus)) &&
    (isArchived === undefined || row.marks.isArchived === isArchived) &&
    (isPinned === undefined || row.marks.isPinned === isPinned) &&
    (parentId === undefined || row.parentId === parentId) &&
    (updatedGteMicros === undefined || row.updatedAtMicros >= updatedGteMicros)
  );
}
