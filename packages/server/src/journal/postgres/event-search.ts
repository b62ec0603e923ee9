import type { Pool } from "pg";
import {
  UnknownPageError,
  type EventFilter,
  type EventPageText,
  type EventQuery,
  type KindFilter,
  type StoredEvent,
} from "../journal.ts";
import { pageLength } from "../page-bound.ts";
import { shownJson } from "../shown-event.ts";
import { foldText } from "../text-terms.ts";
import type { BodySearch } from "./body-search.ts";
import type { Classes } from "./classes.ts";
import { boundedSql, intactJson, type EventReader, type LogRange, type StoredJson } from "./event-reader.ts";

/** A filter as ranges of indexes: the span of `seq` and, when kind, source or body matter, the classes. */
type Plan = {
  readonly log: LogRange;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly classes: readonly number[] | null;
};

export type SearchDeps = {
  readonly pool: Pool;
  readonly events: EventReader;
  readonly classes: Classes;
  readonly bodies: BodySearch;
};

/** Answers every documented filter from a range of an index; never by reading the whole log. */
export class EventSearch {
  readonly #deps: SearchDeps;

  constructor(deps: SearchDeps) {
    this.#deps = deps;
  }

  async search(conversationId: string, query: EventQuery): Promise<EventPageText> {
    const isDescending = query.order === "TIMESTAMP_DESC";
    const plan = await this.#plan(conversationId, query, query.pageId, isDescending);
    if (plan === null) return { items: [], nextPageId: null };
    const matches = await this.#find(plan, query, isDescending);
    const length = pageLength(matches, query.limit);
    return {
      items: matches.slice(0, length).map(shownJson),
      nextPageId: matches[length]?.id ?? null,
    };
  }

  async count(conversationId: string, { body, ...filter }: EventFilter): Promise<number> {
    const plan = await this.#plan(
      conversationId,
      body === undefined ? filter : { ...filter, body },
      undefined,
      false,
    );
    if (plan === null) return 0;
    const { log, fromSeq, toSeq, classes } = plan;
    if (classes === null) return toSeq - fromSeq + 1;
    if (body !== undefined)
      return await this.#deps.bodies.count({ ...plan, classes, needle: foldText(body) });
    const { rows } = await this.#deps.pool.query<{ total: number }>(
      `SELECT count(*) AS total FROM convoke.events
       WHERE log = $1 AND class = ANY ($2::smallint[]) AND seq BETWEEN $3 AND $4`,
      [log.number, classes, fromSeq, toSeq],
    );
    return rows[0]!.total;
  }

  /** All of a filter, ascending. */
  async findSeqs(conversationId: string, filter: KindFilter): Promise<number[]> {
    const plan = await this.#plan(conversationId, filter, undefined, false);
    if (plan === null) return [];
    const { rows } = await this.#deps.pool.query<{ seq: number }>(
      `SELECT seq FROM convoke.events WHERE log = $1 AND class = ANY ($2::smallint[]) AND seq BETWEEN $3 AND $4 ORDER BY seq`,
      [plan.log.number, plan.classes, plan.fromSeq, plan.toSeq],
    );
    return rows.map(({ seq }) => seq);
  }

  /** In order: a page and, if there is one, the match behind it. */
  async #find(plan: Plan, { limit, body }: EventQuery, isDescending: boolean): Promise<StoredEvent[]> {
    const { log, fromSeq, toSeq, classes } = plan;
    const direction = isDescending ? "DESC" : "ASC";
    if (classes === null) {
      const count = Math.min(limit, toSeq - fromSeq);
      const [first, last] = isDescending ? [toSeq - count, toSeq] : [fromSeq, fromSeq + count];
      const { rows } = await this.#deps.pool.query<StoredJson>(
        boundedSql("SELECT * FROM convoke.events WHERE log = $1 AND seq BETWEEN $2 AND $3", direction),
        [log.number, first, last],
      );
      return isDescending
        ? await this.#deps.events.fill(log, rows, last, first, -1)
        : await this.#deps.events.fill(log, rows, first, last, 1);
    }
    if (body !== undefined) {
      const seqs = await this.#deps.bodies.find(
        { ...plan, classes, needle: foldText(body) },
        { limit: limit + 1, isDescending },
      );
      return await this.#readMatches(
        log,
        boundedSql("SELECT * FROM convoke.events WHERE log = $1 AND seq = ANY ($2::integer[])", direction),
        [log.number, seqs],
      );
    }
    return await this.#readMatches(
      log,
      boundedSql(
        `SELECT e.* FROM (${seqsSql(direction)}) found JOIN convoke.events e ON e.log = $1 AND e.seq = found.seq`,
        direction,
      ),
      [log.number, classes, fromSeq, toSeq, limit + 1],
    );
  }

  async #readMatches(log: LogRange, sql: string, values: unknown[]): Promise<StoredEvent[]> {
    const { rows } = await this.#deps.pool.query<StoredJson>(sql, values);
    return rows.map((row) => ({ seq: row.seq, id: row.id, json: intactJson(log, row) }));
  }

  /** Null when nothing can match. */
  async #plan(
    conversationId: string,
    filter: EventFilter,
    pageId: string | undefined,
    isDescending: boolean,
  ): Promise<Plan | null> {
    const { events } = this.#deps;
    const log = await events.open(conversationId);
    const [pageSeq = null] =
      pageId === undefined || log === null ? [] : await events.seqsOfIds(log, [pageId]);
    if (pageId !== undefined && pageSeq === null) {
      throw new UnknownPageError(`Conversation ${conversationId} has no event ${pageId}`);
    }
    if (log === null) return null;
    let fromSeq = 1;
    let toSeq = log.lastSeq;
    if (filter.timestampGteMicros !== undefined) {
      fromSeq = await events.firstSeqAtOrAfter(log, filter.timestampGteMicros);
    }
    if (filter.timestampLtMicros !== undefined) {
      toSeq = (await events.firstSeqAtOrAfter(log, filter.timestampLtMicros)) - 1;
    }
    if (pageSeq !== null && isDescending) toSeq = Math.min(toSeq, pageSeq);
    if (pageSeq !== null && !isDescending) fromSeq = Math.max(fromSeq, pageSeq);
    if (fromSeq > toSeq) return null;
    const classes = await this.#selectClasses(filter);
    return classes?.length === 0 ? null : { log, fromSeq, toSeq, classes };
  }

  async #selectClasses({ kind, source, body }: EventFilter): Promise<number[] | null> {
    if (kind === undefined && source === undefined && body === undefined) return null;
    return await this.#deps.classes.select(
      (candidate) =>
        (kind === undefined || candidate.kind === kind) &&
        (source === undefined || candidate.source === source) &&
        (body === undefined || candidate.has_text),
    );
  }
}

/**
 * Parameters: log, classes, first and last `seq`, limit. Each class is a range of one index, read no further than the limit;
 * all of them in one range would be sorted as a whole.
 */
function seqsSql(direction: "ASC" | "DESC"): string {
  return `
    SELECT part.seq FROM unnest($2::smallint[]) AS selected(code) CROSS JOIN LATERAL (
      SELECT e.seq FROM convoke.events e WHERE e.log = $1 AND e.class = selected.code AND e.seq BETWEEN $3 AND $4
      ORDER BY e.seq ${direction} LIMIT $5
    ) part ORDER BY part.seq ${direction} LIMIT $5`;
}
