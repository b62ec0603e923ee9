import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { AppConversationFilter, Journal } from "./journal.ts";
import { sampleConversation } from "./sample-events.ts";
import { allItems } from "./contract-pages.ts";

/** The part of the contract about conversations that the app has started in sandboxes. */
export function describeAppConversations(journal: () => Journal): void {
  describe("conversations of the app", () => {
    const factsOf = async (id: string): Promise<unknown> =>
      JSON.parse((await journal().getConversation(id))?.appFacts ?? "null");

    test("facts stand in the row: changed field by field, and taken away", async () => {
      const id = randomUUID();
      const appFacts = JSON.stringify({ branch: "main", numbers: [1], parent_id: null });
      await journal().createConversation(sampleConversation(id, { appFacts, sandboxId: "box" }));
      expect(await factsOf(id)).toEqual({ branch: "main", numbers: [1], parent_id: null });
      expect(await journal().markConversation(id, { appFacts: '{"branch":"next","isPublic":true}' })).toBe(
        true,
      );
      expect(await factsOf(id)).toMatchObject({ branch: "next", numbers: [1], isPublic: true });
      await journal().markConversation(id, { isPinned: true });
      expect(await factsOf(id)).toMatchObject({ branch: "next", isPublic: true });
      await journal().markConversation(id, { appFacts: null });
      expect(await journal().getConversation(id)).toMatchObject({
        appFacts: null,
        marks: { isPinned: true },
      });
      await journal().markConversation(id, { appFacts: '{"branch":"new"}' });
      expect(await factsOf(id)).toEqual({ branch: "new" });
      expect(await journal().markConversation(randomUUID(), { appFacts: "{}" })).toBe(false);
    });

    test("lists have those with facts, by their creation, each once", async () => {
      const ownerId = randomUUID();
      const rows = Array.from({ length: 12 }, (_, index) =>
        sampleConversation(randomUUID(), {
          ownerId: index === 3 ? randomUUID() : ownerId,
          createdAtMicros: 1_000 + Math.floor(index / 2),
          sandboxId: `box${index % 2}`,
          isCopying: index === 4,
          appFacts: index === 5 ? null : JSON.stringify({ parent_id: index % 3 === 2 ? "mother" : null }),
        }),
      );
      for (const row of rows) await journal().createConversation(row);
      const listed = rows.filter((_, index) => ![3, 4, 5].includes(index));
      const isBelow = (row: (typeof rows)[number]): boolean => row.appFacts!.includes("mother");
      const cases: readonly [Omit<AppConversationFilter, "ownerId">, typeof rows][] = [
        [{}, listed],
        [{ sandboxId: "box1" }, listed.filter((row) => row.sandboxId === "box1")],
        [{ parentIds: null }, listed.filter((row) => !isBelow(row))],
        [{ parentIds: ["father", "mother"] }, listed.filter(isBelow)],
        [{ parentIds: ["father"] }, []],
        [
          { createdGteMicros: 1_001, createdLtMicros: 1_004 },
          listed.filter(({ createdAtMicros: at }) => at >= 1_001 && at < 1_004),
        ],
      ];
      for (const [filter, expected] of cases) {
        expect(await journal().countAppConversations({ ...filter, ownerId })).toBe(expected.length);
        for (const sort of ["CREATED_AT", "CREATED_AT_DESC"] as const) {
          const query = { ...filter, ownerId, sort, limit: 2 };
          const found = await allItems(2, (pageId) => journal().searchAppConversations({ ...query, pageId }));
          const ids = expected.map(({ id }) => id);
          expect(found.map(({ id }) => id)).toEqual(sort === "CREATED_AT" ? ids : ids.toReversed());
        }
      }
      const foreign = { ownerId, sort: "CREATED_AT", limit: 2, pageId: rows[3]!.id } as const;
      await expect(journal().searchAppConversations(foreign)).rejects.toThrow("There is no conversation");
    });
  });
}
