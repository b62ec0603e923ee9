import type { Pool } from "pg";
import type { TextMatch, TextPage, TextQuery } from "../../journal.ts";
import { findMatch } from "../../text-terms.ts";
import { gramsOfTerms } from "../../text-grams.ts";
import { integers } from "../arrays.ts";
import { scopeGrams, type TextEvent, type TextIndexer } from "./indexer.ts";
import { byPlace, highest, readPlace, writePlace, type PageStart } from "../../text-page.ts";

const blocksPerRead = 32;
/** Maximum number of blocks that are searched for one page. */
const maxBlocks = 96;

/** Searches the texts of all conversations of an owner: blocks by their grams, the newest first, then the texts in them. */
export class TextSearch {
  readonly #pool: Pool;
  readonly #indexer: TextIndexer;

  constructor(pool: Pool, indexer: TextIndexer) {
    this.#pool = pool;
    this.#indexer = indexer;
  }

  async search(query: TextQuery): Promise<TextPage> {
    const from = query.pageId === undefined ? null : readPlace(query.pageId);
    const { waiting, conversations } = await this.#indexer.poll();
    const isComplete = waiting === 0;
    const progress = isComplete ? 1 : 1 - Math.min(1, waiting / Math.max(1, conversations));
    return { ...(await this.#find(query, from)), isComplete, progress };
  }

  async #find(query: TextQuery, from: PageStart | null): Promise<Pick<TextPage, "items" | "nextPageId">> {
    const log = query.conversationId === undefined ? null : await this.#numberOf(query.conversationId);
    const latest = Math.min(from?.at ?? Infinity, (query.timestampLtMicros ?? Infinity) - 1);
    const values = [
      integers([
        log === null ? scopeGrams.owner(query.ownerId) : scopeGrams.log(log),
        ...gramsOfTerms(query.terms),
      ]),
      query.ownerId,
      query.conversationId ?? null,
      query.timestampGteMicros ?? 0,
      Math.min(latest, Number.MAX_SAFE_INTEGER),
    ];
    const found: TextMatch[] = [];
    for (let scanned = 0; ; scanned += blocksPerRead) {
      const { rows } = await this.#pool.query<BlockRow>(blocksSql, [...values, blocksPerRead + 1, scanned]);
      for (const row of rows.slice(0, blocksPerRead)) {
        for (const match of matchesIn(row, query))
          if (match.timestampMicros <= latest && isBehind(match, from)) found.push(match);
      }
      const next = rows[blocksPerRead];
      if (next === undefined) return toPage(found, query.limit);
      // Those above the end of the next block are in order now: every block that follows ends before it.
      const certain = found.filter(({ timestampMicros }) => timestampMicros > next.last_at);
      if (certain.length > query.limit) return toPage(found, query.limit);
      if (scanned + blocksPerRead >= maxBlocks && next.last_at < (from?.at ?? Infinity)) {
        return {
          items: certain.toSorted(byTime),
          nextPageId: writePlace({ at: next.last_at, conversationId: highest }),
        };
      }
    }
  }

  async #numberOf(conversationId: string): Promise<number> {
    const { rows } = await this.#pool.query<{ number: number }>(
      "SELECT number FROM convoke.conversations WHERE id = $1",
      [conversationId],
    );
    return rows[0]?.number ?? 0;
  }
}

type BlockRow = { readonly id: string; readonly last_at: number; readonly entries: string };

/**
 * Parameters: grams, owner, conversation, first and last instant, limit, offset. `MATERIALIZED`: without statistics the planner
 * would read all blocks. The texts are read only for the blocks that are searched.
 */
const blocksSql = `
  WITH found AS MATERIALIZED (
    SELECT log, class, first_seq, first_at, last_at FROM convoke.text_blocks WHERE grams @> $1::integer[]
  ), page AS (
    SELECT f.log, f.class, f.first_seq, f.last_at, c.id FROM found f JOIN convoke.conversations c ON c.number = f.log
    WHERE c.owner_id = $2 AND NOT c.is_copying AND ($3::text IS NULL OR c.id = $3)
      AND f.last_at >= $4::bigint AND f.first_at <= $5::bigint
    ORDER BY f.last_at DESC, f.log DESC, f.class DESC, f.first_seq DESC LIMIT $6 OFFSET $7
  )
  SELECT page.id, page.last_at, s.entries FROM page JOIN convoke.text_blocks s USING (log, class, first_seq)
  ORDER BY page.last_at DESC, page.log DESC, page.class DESC, page.first_seq DESC`;

function matchesIn({ id: conversationId, entries }: BlockRow, query: TextQuery): TextMatch[] {
  const { terms, kind, source, timestampGteMicros = 0 } = query;
  return (JSON.parse(entries) as TextEvent[]).flatMap((event): TextMatch[] => {
    const isWanted =
      (kind === undefined || event.kind === kind) &&
      (source === undefined || event.source === source) &&
      event.at >= timestampGteMicros;
    const text = isWanted ? findMatch(event.texts, terms) : null;
    if (text === null) return [];
    const { id: eventId, at: timestampMicros, toolName } = event;
    return [
      { conversationId, eventId, timestampMicros, kind: event.kind, source: event.source, toolName, text },
    ];
  });
}

function isBehind({ timestampMicros, conversationId }: TextMatch, from: PageStart | null): boolean {
  return from === null || timestampMicros < from.at || conversationId <= from.conversationId;
}

function toPage(found: readonly TextMatch[], limit: number): Pick<TextPage, "items" | "nextPageId"> {
  const sorted = found.toSorted(byTime);
  const next = sorted[limit];
  return {
    items: sorted.slice(0, limit),
    nextPageId: next === undefined ? null : writePlace(placeOf(next)),
  };
}

function byTime(left: TextMatch, right: TextMatch): number {
  return byPlace(placeOf(left), placeOf(right));
}

function placeOf({ timestampMicros, conversationId }: TextMatch): PageStart {
  return { at: timestampMicros, conversationId };
}
