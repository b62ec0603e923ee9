import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { TextMatch, TextPage, TextQuery } from "../../journal.ts";
import { blockSpanMicros } from "../../text-blocks.ts";
import { gramsOfTerms } from "../../text-grams.ts";
import type { EventReader } from "../event-reader.ts";
import { findTexts, type Found } from "./block.ts";
import type { TextIndexing } from "./indexing.ts";
import { isDamagedIndex, scopeWords, tickMicros, tickOf, toExpression, toWords } from "./tables.ts";
import type { TextIndex } from "./text-index.ts";
import type { TextIndexes } from "./text-indexes.ts";
import { byPlace, highest, readPlace, writePlace, type PageStart } from "../../text-page.ts";

/** In no block above that of `block`, where the page before ended because it had searched the maximum. */
type Place = PageStart & { readonly block?: number };
type Hit = Found & { readonly conversationId: string };

export type TextSearchDeps = {
  readonly indexes: TextIndexes;
  readonly journal: DatabaseSync;
  readonly events: EventReader;
  readonly indexing: TextIndexing;
};

/** Searches the texts of all conversations: candidate blocks from the index, the newest first, then the texts in them. */
export class TextSearch {
  readonly #deps: TextSearchDeps;
  readonly #visible: StatementSync;
  readonly #number: StatementSync;

  constructor(deps: TextSearchDeps) {
    this.#deps = deps;
    this.#visible = deps.journal.prepare(
      "SELECT id FROM conversations WHERE number = ? AND owner_id = ? AND is_copying = 0",
    );
    this.#number = deps.journal.prepare("SELECT number FROM conversations WHERE id = ?");
  }

  async search(query: TextQuery): Promise<TextPage> {
    const from = query.pageId === undefined ? null : readStart(query.pageId);
    const { indexing, indexes } = this.#deps;
    await indexing.poll();
    const { isComplete, waiting, conversations } = indexing.progress;
    const progress = isComplete ? 1 : 1 - Math.min(1, waiting / Math.max(1, conversations));
    try {
      using taken = indexes.take();
      if (taken.index === null) return { items: [], nextPageId: null, isComplete, progress };
      return { ...(await this.#find(taken.index, query, from)), isComplete, progress };
    } catch (error) {
      if (!isDamagedIndex(error)) throw error;
      // Nothing is lost: it is made again of the journal.
      indexes.makeAgain();
      return { items: [], nextPageId: null, isComplete: false, progress: 0 };
    }
  }

  async #find(
    index: TextIndex,
    query: TextQuery,
    from: Place | null,
  ): Promise<Pick<TextPage, "items" | "nextPageId">> {
    const range = this.#rangeOf(index, query, from);
    if (range === null) return { items: [], nextPageId: null };
    const found: Hit[] = [];
    let startedMs = performance.now();
    let scanned = 0;
    for (const id of index.candidates(expressionOf(query, range.number), range.low, range.high)) {
      if (performance.now() - startedMs > sliceMs) {
        await yieldToEventLoop();
        startedMs = performance.now();
      }
      if (id === null) continue;
      // Those above the end of this block are in order now: every block that follows ends before it.
      const certain = found.filter(({ at }) => at > id * tickMicros).length;
      if (certain > query.limit) break;
      // With nothing in hand that could be newer than what follows.
      if (scanned >= maxBlocks && certain === found.length) {
        const place = { at: id * tickMicros, conversationId: `${highest}${id}` };
        return { items: this.#show(inOrder(found)), nextPageId: writePlace(place) };
      }
      scanned += 1;
      found.push(...this.#searchBlock(index, id, query, from));
    }
    const sorted = inOrder(found);
    const next = sorted[query.limit];
    return {
      items: this.#show(sorted.slice(0, query.limit)),
      nextPageId: next === undefined ? null : writePlace(next),
    };
  }

  /** Null when nothing can match. */
  #rangeOf(
    index: TextIndex,
    query: TextQuery,
    from: Place | null,
  ): { low: number; high: number; number: number | null } | null {
    const { conversationId, timestampGteMicros = 0, timestampLtMicros = Infinity } = query;
    const number =
      conversationId === undefined ? null : Number(this.#number.get(conversationId)?.["number"] ?? -1);
    const ends = index.ends(number);
    if (ends === null) return null;
    const latest = Math.min(from?.at ?? Infinity, timestampLtMicros);
    return {
      low: Math.max(ends.low, Math.floor(timestampGteMicros / tickMicros)),
      high: Math.min(ends.high, from?.block ?? tickOf(latest + blockSpanMicros) + index.drift()),
      number,
    };
  }

  #searchBlock(index: TextIndex, id: number, query: TextQuery, from: Place | null): Hit[] {
    const block = index.block(id);
    const latest = Math.min(from?.at ?? Infinity, (query.timestampLtMicros ?? Infinity) - 1);
    if (block === null || block.first_at > latest) return [];
    const conversationId = this.#visible.get(block.number, query.ownerId)?.["id"];
    if (typeof conversationId !== "string") return [];
    const isWanted = ({ at, kind, source }: Found): boolean =>
      at <= latest &&
      at >= (query.timestampGteMicros ?? 0) &&
      (from === null || at < from.at || conversationId <= from.conversationId) &&
      (query.kind === undefined || kind === query.kind) &&
      (query.source === undefined || source === query.source);
    return findTexts(index.entries(id), query.terms)
      .filter(isWanted)
      .map((entry) => ({ ...entry, conversationId }));
  }

  /** What is still there. */
  #show(hits: readonly Hit[]): TextMatch[] {
    const { events } = this.#deps;
    return events.snapshot(() =>
      hits.flatMap((hit): TextMatch[] => {
        const { conversationId, seq, at, kind, source, toolName, text } = hit;
        const log = events.open(conversationId);
        if (log === null || seq > log.lastSeq) return [];
        const eventId = events.idAt(log, seq);
        return [{ conversationId, eventId, timestampMicros: at, kind, source, toolName, text }];
      }),
    );
  }
}

const sliceMs = 3;
/** Maximum number of blocks that are unpacked for one page; more only to sort the hits of one hour. */
const maxBlocks = 60;
function expressionOf(query: TextQuery, number: number | null): string {
  return toExpression([
    number === null ? scopeWords.owner(query.ownerId) : scopeWords.log(number),
    ...(query.kind === undefined ? [] : [scopeWords.kind(query.kind)]),
    ...(query.source === undefined ? [] : [scopeWords.source(query.source)]),
    ...toWords(gramsOfTerms(query.terms)),
  ]);
}

function inOrder(found: readonly Hit[]): (Hit & Place)[] {
  return found.toSorted(byPlace);
}

/** The id of a block stands behind {@link highest}, in the place of a conversation. */
function readStart(pageId: string): Place {
  const place = readPlace(pageId);
  const { at, conversationId } = place;
  if (!conversationId.startsWith(highest)) return place;
  return { at, conversationId, block: Number(conversationId.slice(highest.length)) || 0 };
}
