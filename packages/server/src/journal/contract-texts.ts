import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import {
  UnknownPageError,
  type Journal,
  type Lease,
  type TextMatch,
  type TextPage,
  type TextQuery,
} from "./journal.ts";
import { sampleConversation, sampleEvent, sampleId, sampleMicros } from "./sample-events.ts";
import { readTerms } from "./text-terms.ts";
import { itemsOfPages } from "../lib/items-of-pages.ts";

/** The part of the contract about the search of everything. */
export function describeTexts(journal: () => Journal): void {
  describe("texts of all conversations", () => {
    test("S11: every search gives exactly what a plain reading gives, page by page, the newest first", async () => {
      const ownerId = randomUUID();
      const logs = await Promise.all(
        Array.from({ length: 6 }, async (_, index) => {
          const lease = await start(journal(), index === 5 ? `${ownerId}-other` : ownerId);
          const texts = Array.from({ length: 10 + 25 * index }, (_, at) => textAt(index, at));
          await say(journal(), lease, 0, texts);
          return { id: lease.conversationId, texts };
        }),
      );
      await untilRead(journal(), { ownerId, terms: ["a"], limit: 1 });
      const allTexts: TextMatch[] = logs.slice(0, 5).flatMap(({ id, texts }) =>
        texts.map((text, index) => ({
          conversationId: id,
          eventId: sampleId(index + 1),
          timestampMicros: sampleMicros(index + 1),
          kind: "MessageEvent",
          source: sourceAt(index),
          toolName: null,
          text,
        })),
      );
      const queries = fc.record(
        {
          typed: fc.constantFrom(...typedQueries),
          conversationId: fc.constantFrom(...logs.map(({ id }) => id)),
          kind: fc.constantFrom("MessageEvent", "ActionEvent"),
          source: fc.constantFrom("user", "agent"),
          timestampGteMicros: fc.integer({ min: sampleMicros(-5), max: sampleMicros(140) }),
          timestampLtMicros: fc.integer({ min: sampleMicros(-5), max: sampleMicros(140) }),
          limit: fc.integer({ min: 1, max: 40 }),
        },
        { requiredKeys: ["typed", "limit"] },
      );
      await fc.assert(
        fc.asyncProperty(queries, async ({ typed, ...filter }) => {
          const query = { ...filter, ownerId, terms: readTerms(typed) };
          const found = await allPages(journal(), query);
          expect(found).toEqual(allTexts.filter((one) => isIn(one, query)).toSorted(byTime));
        }),
        { numRuns: 60 },
      );
    });

    test("S11: what is said later comes before a page that was begun, and never into it", async () => {
      const ownerId = randomUUID();
      const lease = await start(journal(), ownerId);
      await say(
        journal(),
        lease,
        0,
        Array.from({ length: 40 }, (_, at) => `needle ${at}`),
      );
      const query = { ownerId, terms: ["needle"], limit: 7 };
      await untilRead(journal(), query);
      let length = 40;
      const found = await allPages(journal(), query, async () => {
        await say(journal(), lease, length, ["needle, once more"]);
        length += 1;
        await untilRead(journal(), query);
      });
      expect(found.map(({ text }) => text)).toEqual(
        Array.from({ length: 40 }, (_, at) => `needle ${39 - at}`),
      );
      expect((await journal().searchTexts(query)).items[0]?.eventId).toBe(sampleId(length));
    });

    test("S11: a conversation that was deleted is gone at once, one that is being filled is not there yet", async () => {
      const ownerId = randomUUID();
      const [remaining, gone] = [await start(journal(), ownerId), await start(journal(), ownerId)];
      const filled = await start(journal(), ownerId, { isCopying: true });
      for (const lease of [remaining, gone, filled]) await say(journal(), lease, 0, ["the same"]);
      const query = { ownerId, terms: ["same"], limit: 9 };
      const ids = async (): Promise<string[]> =>
        (await untilRead(journal(), query)).items.map(({ conversationId }) => conversationId);
      expect((await ids()).toSorted()).toEqual([remaining.conversationId, gone.conversationId].toSorted());
      await journal().deleteConversation(gone);
      const now = await journal().searchTexts(query);
      expect(now.items.map(({ conversationId }) => conversationId)).toEqual([remaining.conversationId]);
      await journal().append(filled, { expectedSeq: 1, events: [], conversation: { isCopying: false } });
      expect((await ids()).toSorted()).toEqual([remaining.conversationId, filled.conversationId].toSorted());
    });

    test("S11: only pages that a search gave are known", async () => {
      const query = { ownerId: "nobody", terms: ["a"], limit: 1 };
      for (const pageId of ["", "junk", "12", "-1-x"]) {
        await expect(journal().searchTexts({ ...query, pageId })).rejects.toThrow(UnknownPageError);
      }
    });
  });
}

const parts = [
  "alpha",
  "Beta",
  "ÉTÉ",
  "a b",
  "naïve",
  'quo"te',
  "100%_",
  "İstanbul",
  "tab\tnew\nline",
  "結果",
];
const typedQueries = [
  "alpha",
  "BETA",
  "été",
  "a",
  '"A b" naïve',
  '"ha be"',
  "結",
  "nothing",
  "alpha beta été",
  '100% "tab"',
  "quo",
  '"w\nl"',
];

function textAt(log: number, index: number): string {
  const some = parts.filter((_, part) => (index + part * (log + 1)) % 4 === 0);
  return `${some.join(" ")} ${index}`;
}

function sourceAt(index: number): string {
  return index % 3 === 0 ? "user" : "agent";
}

async function start(
  journal: Journal,
  ownerId: string,
  changes: { isCopying?: boolean } = {},
): Promise<Lease> {
  const id = randomUUID();
  await journal.createConversation(sampleConversation(id, { ownerId, ...changes }));
  return await journal.claim(id);
}

async function say(
  journal: Journal,
  lease: Lease,
  expectedSeq: number,
  texts: readonly string[],
): Promise<void> {
  const events = texts.map((text, index) =>
    sampleEvent(expectedSeq + index + 1, {
      kind: "MessageEvent",
      source: sourceAt(expectedSeq + index),
      text,
    }),
  );
  await journal.append(lease, { expectedSeq, events });
}

/** The answer once the index has read everything. */
export async function untilRead(journal: Journal, query = anyQuery): Promise<TextPage> {
  return await vi.waitFor(
    async () => {
      const page = await journal.searchTexts(query);
      expect(page).toMatchObject({ isComplete: true, progress: 1 });
      return page;
    },
    { timeout: 120_000, interval: 20 },
  );
}

const anyQuery: TextQuery = { ownerId: "owner", terms: ["a"], limit: 1 };

async function allPages(
  journal: Journal,
  query: TextQuery,
  betweenPages: () => Promise<void> = async () => {},
): Promise<TextMatch[]> {
  const found = itemsOfPages(async (pageId) => {
    if (pageId !== undefined) await betweenPages();
    return await journal.searchTexts({ ...query, pageId });
  });
  return await Array.fromAsync(found);
}

/** What a search means, on one event. */
function isIn(one: TextMatch, query: TextQuery): boolean {
  const folded = one.text.toLowerCase();
  return (
    query.terms.every((term) => folded.includes(term)) &&
    (query.conversationId === undefined || one.conversationId === query.conversationId) &&
    (query.kind === undefined || one.kind === query.kind) &&
    (query.source === undefined || one.source === query.source) &&
    one.timestampMicros >= (query.timestampGteMicros ?? 0) &&
    one.timestampMicros < (query.timestampLtMicros ?? Infinity)
  );
}

function byTime(left: TextMatch, right: TextMatch): number {
  const byId = left.conversationId < right.conversationId ? 1 : -1;
  return right.timestampMicros - left.timestampMicros || byId;
}
