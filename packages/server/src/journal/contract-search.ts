import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { untilRead } from "./contract-texts.ts";
import {
  UnknownPageError,
  type EventFilter,
  type EventQuery,
  type Journal,
  type NewEvent,
} from "./journal.ts";
import {
  sampleConversation,
  sampleEvent,
  sampleId,
  sampleMicros,
  type SampleShape,
} from "./sample-events.ts";
import { allItems } from "./contract-pages.ts";
import { itemsOfPages } from "../lib/items-of-pages.ts";

/** The part of the contract about finding events. */
export function describeSearch(journal: () => Journal): void {
  describe("search", () => {
    test("P39: for all filters, orders and page sizes with concurrent appends, like a plain array", async () => {
      await fc.assert(
        fc.asyncProperty(logs, logs, filters, orders, fc.integer({ min: 1, max: 40 }), async (...drawn) => {
          await comparePaging(journal(), ...drawn);
        }),
        { numRuns: 60 },
      );
    });

    test.each([false, true])(
      "P39: a long log of messages, with the needle everywhere, rare, or nowhere; read by the index: %s",
      async (isRead) => {
        const shapes = Array.from({ length: 400 }, (_, index): SampleShape => {
          const text = `Step ${index} of the plan${index % 97 === 0 ? " has a Needle" : ""}`;
          return { kind: "MessageEvent", source: index % 5 === 0 ? "user" : "agent", text };
        });
        const conversationId = await fill(journal(), shapes.map(sampleAt(1)));
        if (isRead) await untilRead(journal());
        for (const body of ["step", "NEEDLE", "needles", "o", "9 ", "st", "zq", "step 39", ""]) {
          for (const source of [undefined, "user", "environment"]) {
            for (const bounds of [
              {},
              { timestampGteMicros: sampleMicros(90), timestampLtMicros: sampleMicros(310) },
            ]) {
              const filter = { body, ...bounds, ...(source === undefined ? {} : { source }) };
              const expected = shapes.map(sampleAt(1)).filter((event) => isMatch(event, filter));
              expect(await journal().count(conversationId, filter)).toBe(expected.length);
              const ids = expected.map(({ json }) => json);
              expect(
                await pageThrough(journal(), conversationId, { ...filter, order: "TIMESTAMP", limit: 30 }),
              ).toEqual(ids);
              expect(
                await pageThrough(journal(), conversationId, {
                  ...filter,
                  order: "TIMESTAMP_DESC",
                  limit: 30,
                }),
              ).toEqual(ids.toReversed());
            }
          }
        }
      },
    );

    test.each([
      ["STRASSE", "die strasse", true],
      ["ümläut", "ÜMLÄUT", true],
      ["ΟΔΟΣ", "η οδός: οδος", true],
      ["οδοσ", "ΟΔΟΣ ΟΔΟΣ", true],
      ["İstanbul", "visit İSTANBUL", true],
      ['say "hi"\\n', 'they SAY "HI"\\N now', true],
      ["line\nbreak", "a line\nbreak", true],
      ["🙂👍", "well 🙂👍 done", true],
      ["错误", "发生错误了", true],
      ["a\u0000b", "xa\u0000by", true],
      ["\ud800", "lone \ud800 half", true],
      ["%", "100%", true],
      ["_", "100%", false],
      ["b  c", "b c", false],
      ['" OR "', "plain", false],
    ])("W17: body %j in %j: %s", async (body, text, isFound) => {
      const padding: SampleShape[] = Array.from({ length: 40 }, () => ({
        kind: "MessageEvent",
        source: "user",
        text: "-",
      }));
      const shapes: SampleShape[] = [{ kind: "MessageEvent", source: "user", text }, ...padding];
      const conversationId = await fill(journal(), shapes.map(sampleAt(1)));
      // Before the index has read the message, and by the index.
      for (let round = 0; round < 2; round += 1) {
        expect(await journal().count(conversationId, { body })).toBe(isFound ? 1 : 0);
        await untilRead(journal());
      }
    });

    test("W22: a page id the conversation does not have is refused", async () => {
      const conversationId = await fill(journal(), [sampleEvent(1), sampleEvent(3)]);
      for (const pageId of [sampleId(2), sampleId(9), "junk", ""]) {
        await expect(
          journal().search(conversationId, { order: "TIMESTAMP", limit: 10, pageId }),
        ).rejects.toThrow(UnknownPageError);
      }
      await expect(
        journal().search(randomUUID(), { order: "TIMESTAMP", limit: 10, pageId: sampleId(1) }),
      ).rejects.toThrow(UnknownPageError);
    });

    test("P40: bounds are instants: the lower one belongs to the range, the upper one does not", async () => {
      const events = [1, 2, 3, 4].map((seq) => sampleEvent(seq));
      const conversationId = await fill(journal(), events);
      const find = async (filter: EventFilter): Promise<string[]> =>
        (await journal().search(conversationId, { ...filter, order: "TIMESTAMP", limit: 10 })).items;
      const jsons = events.map(({ json }) => json);
      expect(await find({ timestampGteMicros: sampleMicros(2) })).toEqual(jsons.slice(1));
      expect(await find({ timestampGteMicros: sampleMicros(2) + 1 })).toEqual(jsons.slice(2));
      expect(await find({ timestampLtMicros: sampleMicros(3) })).toEqual(jsons.slice(0, 2));
      expect(await find({ timestampGteMicros: sampleMicros(3), timestampLtMicros: sampleMicros(3) })).toEqual(
        [],
      );
      expect(await find({ timestampGteMicros: -1, timestampLtMicros: sampleMicros(99) })).toEqual(jsons);
    });

    test("P29: long events end a page before its limit does, and nothing is missing behind it", async () => {
      const long = 6 * 1024 * 1024;
      const shapes = [0, 1, 2, 3, 4].map((index): SampleShape => {
        const text = index === 3 ? "needle" : null;
        return { kind: "MessageEvent", source: "user", text, minLength: index === 4 ? 0 : long };
      });
      const events = shapes.map(sampleAt(1));
      const conversationId = await fill(journal(), events);
      const jsons = events.map(({ json }) => json);
      const pageSizes = async (query: EventQuery): Promise<number[]> => {
        const sizes: number[] = [];
        const pages = itemsOfPages(async (pageId) => {
          const page = await journal().search(conversationId, { ...query, pageId });
          sizes.push(page.items.length);
          return page;
        });
        const places = await Array.fromAsync(pages, (json) => jsons.indexOf(json));
        expect(places).toEqual(query.order === "TIMESTAMP" ? [0, 1, 2, 3, 4] : [4, 3, 2, 1, 0]);
        return sizes;
      };
      expect(await pageSizes({ order: "TIMESTAMP", limit: 100 })).toEqual([3, 2]);
      expect(await pageSizes({ order: "TIMESTAMP", limit: 2 })).toEqual([2, 2, 1]);
      expect(await pageSizes({ kind: "MessageEvent", order: "TIMESTAMP_DESC", limit: 100 })).toEqual([4, 1]);
      expect(await pageSizes({ source: "user", order: "TIMESTAMP", limit: 3 })).toEqual([3, 2]);
      const found = await journal().search(conversationId, { body: "needle", order: "TIMESTAMP", limit: 9 });
      expect(found).toEqual({ items: [jsons[3]], nextPageId: null });
      const seqs: number[][] = [];
      for (let after = 0; after < 5;) {
        const read = await journal().read(conversationId, after, 100);
        seqs.push(read.map(({ seq }) => seq));
        after = read.at(-1)!.seq;
      }
      expect(seqs).toEqual([
        [1, 2, 3],
        [4, 5],
      ]);
      const kinds = await journal().readKinds(conversationId, ["MessageEvent"], 1, 99);
      expect(kinds.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    });

    test("readKinds gives the events of some kinds in a span, with meta", async () => {
      const shapes = ["ActionEvent", "MessageEvent", "PauseEvent", "ActionEvent", "MessageEvent"].map(
        (kind, index) => ({
          kind,
          source: index % 2 === 0 ? "agent" : "user",
          meta: `{"n":${index}}`,
        }),
      );
      const conversationId = await fill(journal(), shapes.map(sampleAt(1)));
      const found = await journal().readKinds(conversationId, ["MessageEvent", "ActionEvent", "None"], 2, 99);
      expect(found).toEqual(
        [2, 4, 5].map((seq) => {
          const { id, json, meta } = sampleAt(1)(shapes[seq - 1] ?? {}, seq - 1);
          return { seq, id, json, meta };
        }),
      );
      expect(await journal().readKinds(conversationId, [], 1, 99)).toEqual([]);
    });

    test("findSeqs gives the places of a kind, and of a source", async () => {
      const kinds = ["MessageEvent", "ActionEvent", "MessageEvent", "PauseEvent"];
      const sources = ["user", "agent", "agent", "user"];
      const length = 12_000;
      const shapes = Array.from({ length }, (_, index) => ({
        kind: kinds[index % 4]!,
        source: sources[index % 4]!,
      }));
      const conversationId = await fill(journal(), shapes.map(sampleAt(1)));
      const every = (first: number, step: number): number[] =>
        Array.from({ length: length / step }, (_, index) => first + index * step);
      const find = (kind: string, source?: string): Promise<number[]> =>
        journal().findSeqs(conversationId, { kind, ...(source === undefined ? {} : { source }) });
      expect(await find("MessageEvent")).toEqual(every(1, 2));
      expect(await find("MessageEvent", "user")).toEqual(every(1, 4));
      expect(await find("ActionEvent", "user")).toEqual([]);
      expect(await find("Unheard")).toEqual([]);
      expect(await journal().findSeqs(crypto.randomUUID(), { kind: "MessageEvent" })).toEqual([]);
    });
  });
}

const words = ["alpha", "Beta", "ÉTÉ", "a b", "ß", "naïve", "0"];
const shapes: fc.Arbitrary<SampleShape> = fc.oneof(
  fc.record({
    kind: fc.constant("MessageEvent"),
    source: fc.constantFrom("user", "agent"),
    text: fc.array(fc.constantFrom(...words), { maxLength: 3 }).map((parts) => parts.join(" ")),
  }),
  fc.record({
    kind: fc.constantFrom("ActionEvent", "ObservationEvent"),
    source: fc.constantFrom("agent", "environment"),
  }),
);
const logs = fc.array(shapes, { maxLength: 120, size: "max" });
const orders = fc.constantFrom("TIMESTAMP" as const, "TIMESTAMP_DESC" as const);
const instants = fc.integer({ min: sampleMicros(-5), max: sampleMicros(140) });
const filters = fc.record(
  {
    kind: fc.constantFrom("MessageEvent", "ActionEvent", "PauseEvent"),
    source: fc.constantFrom("user", "agent", "environment", "nobody"),
    body: fc.constantFrom("alpha", "BETA", "été", "a", "A b", "ss", "ha be", "nothing"),
    timestampGteMicros: instants,
    timestampLtMicros: instants,
  },
  { requiredKeys: [] },
);

/** Appends while it pages: ascending pages reach what was appended before the last one, descending ones never do. */
async function comparePaging(
  journal: Journal,
  first: SampleShape[],
  later: SampleShape[],
  filter: EventFilter,
  order: EventQuery["order"],
  limit: number,
): Promise<void> {
  const log = first.map(sampleAt(1));
  const conversationId = await fill(journal, log);
  const lease = await journal.claim(conversationId);
  const atStart = log.filter((event) => isMatch(event, filter));
  const waiting = later.map(sampleAt(1 + first.length));
  if (first.length % 2 === 0) await untilRead(journal);
  const pages = await pageThrough(journal, conversationId, { ...filter, order, limit }, async () => {
    const events = waiting.splice(0, 15);
    await journal.append(lease, { expectedSeq: log.length, events });
    log.push(...events);
  });
  const atEnd = log.filter((event) => isMatch(event, filter));
  const expected = (order === "TIMESTAMP" ? atEnd : atStart).map(({ json }) => json);
  expect(pages).toEqual(order === "TIMESTAMP" ? expected : expected.toReversed());
  expect(await journal.count(conversationId, filter)).toBe(atEnd.length);
}

async function pageThrough(
  journal: Journal,
  conversationId: string,
  query: EventQuery,
  betweenPages: () => Promise<void> = async () => {},
): Promise<string[]> {
  return await allItems(query.limit, async (pageId) => {
    if (pageId !== undefined) await betweenPages();
    return await journal.search(conversationId, { ...query, pageId });
  });
}

function sampleAt(firstSeq: number): (shape: SampleShape, index: number) => NewEvent {
  return (shape, index) => sampleEvent(firstSeq + index, shape);
}

async function fill(journal: Journal, events: readonly NewEvent[]): Promise<string> {
  const conversationId = randomUUID();
  await journal.createConversation(sampleConversation(conversationId));
  await journal.append(await journal.claim(conversationId), { expectedSeq: 0, events });
  return conversationId;
}

/** What the filters mean, on one event. */
function isMatch(event: NewEvent, filter: EventFilter): boolean {
  return (
    (filter.kind === undefined || event.kind === filter.kind) &&
    (filter.source === undefined || event.source === filter.source) &&
    (filter.body === undefined ||
      (event.text !== null && event.text.toLowerCase().includes(filter.body.toLowerCase()))) &&
    (filter.timestampGteMicros === undefined || event.timestampMicros >= filter.timestampGteMicros) &&
    (filter.timestampLtMicros === undefined || event.timestampMicros < filter.timestampLtMicros)
  );
}
