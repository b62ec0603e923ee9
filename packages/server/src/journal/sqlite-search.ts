import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { UnknownPageError, type EventFilter, type EventPageText, type EventQuery } from "./journal.ts";
import { BodySearch } from "./sqlite-body-search.ts";
import { ClassReader, type EventClass } from "./sqlite-classes.ts";
import { readDamageAware, type EventReader, type LogRange } from "./sqlite-events.ts";
import { positionOf } from "./sqlite-schema.ts";

/** A filter as ranges of indexes: the span of `seq` and, when kind, source or body matter, the classes. */
type Plan = {
  readonly log: LogRange;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly classes: readonly EventClass[] | null;
};

/** One match; the JSON is exactly what was appended. */
export type Match = { readonly seq: number; readonly json: string };

/** Answers every documented filter from a range of an index; never by reading the whole log. */
export class EventSearch {
  readonly #database: DatabaseSync;
  readonly #reader: EventReader;
  readonly #classes: ClassReader;
  readonly #bodies: BodySearch;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync, reader: EventReader) {
    this.#database = database;
    this.#reader = reader;
    this.#classes = new ClassReader(database);
    this.#bodies = new BodySearch(database);
  }

  async search(conversationId: string, query: EventQuery): Promise<EventPageText> {
    const isDescending = query.order === "TIMESTAMP_DESC";
    const plan = this.#plan(conversationId, query, query.pageId, isDescending);
    if (plan === null) return { items: [], nextPageId: null };
    const matches =
      query.body === undefined
        ? this.#readMatches(plan, isDescending, query.limit + 1)
        : await this.#bodies.find(plan.log, {
            ...plan,
            classes: plan.classes ?? [],
            body: query.body,
            isDescending,
            limit: query.limit + 1,
          });
    const next = matches[query.limit];
    return {
      items: matches.slice(0, query.limit).map((match) => match.json),
      nextPageId: next === undefined ? null : this.#reader.idAt(plan.log, next.seq),
    };
  }

  async count(conversationId: string, filter: EventFilter): Promise<number> {
    const plan = this.#plan(conversationId, filter, undefined, false);
    if (plan === null) return 0;
    if (plan.classes === null) return plan.toSeq - plan.fromSeq + 1;
    if (filter.body !== undefined) {
      return await this.#bodies.count(plan.log, { ...plan, classes: plan.classes, body: filter.body });
    }
    let total = 0;
    const base = positionOf(plan.log.number, 0);
    const statement = this.#prepare(
      "SELECT count(*) FROM events INDEXED BY events_by_class WHERE class = ? AND position BETWEEN ? AND ?",
    );
    for (const { code } of plan.classes) {
      // In slices, so that a large count never holds the event loop.
      for (let from = plan.fromSeq; from <= plan.toSeq; from += countSlice) {
        const to = Math.min(plan.toSeq, from + countSlice - 1);
        total += (statement.get(code, base + from, base + to) as unknown as [number])[0];
        if (to < plan.toSeq) await yieldToEventLoop();
      }
    }
    return total;
  }

  /** The `seq` of the events of the given kinds in a span, ascending, at most `limit`. */
  findKinds(
    log: LogRange,
    kinds: readonly string[],
    fromSeq: number,
    toSeq: number,
    limit: number,
  ): number[] {
    const classes = this.#classes.select(({ kind }) => kinds.includes(kind));
    return this.#readMatches({ log, fromSeq, toSeq, classes }, false, limit).map(({ seq }) => seq);
  }

  /** Null when nothing can match. */
  #plan(
    conversationId: string,
    filter: EventFilter,
    pageId: string | undefined,
    isDescending: boolean,
  ): Plan | null {
    const log = this.#reader.open(conversationId);
    const pageSeq = pageId === undefined || log === null ? null : this.#reader.seqOfId(log, pageId);
    if (pageId !== undefined && pageSeq === null) {
      throw new UnknownPageError(`Conversation ${conversationId} has no event ${pageId}`);
    }
    if (log === null) return null;
    let fromSeq = 1;
    let toSeq = log.lastSeq;
    if (filter.timestampGteMicros !== undefined) {
      fromSeq = this.#reader.firstSeqAtOrAfter(log, filter.timestampGteMicros);
    }
    if (filter.timestampLtMicros !== undefined) {
      toSeq = this.#reader.firstSeqAtOrAfter(log, filter.timestampLtMicros) - 1;
    }
    if (pageSeq !== null && isDescending) toSeq = Math.min(toSeq, pageSeq);
    if (pageSeq !== null && !isDescending) fromSeq = Math.max(fromSeq, pageSeq);
    const classes = this.#selectClasses(filter);
    return fromSeq > toSeq || classes?.length === 0 ? null : { log, fromSeq, toSeq, classes };
  }

  #selectClasses({ kind, source, body }: EventFilter): EventClass[] | null {
    if (kind === undefined && source === undefined && body === undefined) return null;
    return this.#classes.select(
      (candidate) =>
        (kind === undefined || candidate.kind === kind) &&
        (source === undefined || candidate.source === source) &&
        (body === undefined || candidate.hasText),
    );
  }

  #readMatches({ log, fromSeq, toSeq, classes }: Plan, isDescending: boolean, limit: number): Match[] {
    if (classes?.length === 0) return [];
    const direction = isDescending ? "DESC" : "ASC";
    const statement = this.#prepare(
      classes === null ? rangeSql(direction) : classesSql(classes.length, direction),
    );
    const base = positionOf(log.number, 0);
    const codes = classes?.map(({ code }) => code) ?? [];
    const rows = readDamageAware(
      log,
      () => statement.all(base + fromSeq, base + toSeq, limit, ...codes) as unknown as [number, string][],
      () => this.#reader.findDamage(log, fromSeq, toSeq),
    );
    return rows.map(([position, json]) => ({ seq: position - base, json }));
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      statement.setReturnArrays(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

const countSlice = 100_000;

function rangeSql(direction: string): string {
  return `SELECT position, json FROM events WHERE position BETWEEN ?1 AND ?2 ORDER BY position ${direction} LIMIT ?3`;
}

/** SQLite merges the classes' index ranges lazily, so only the rows of the page are read. */
function classesSql(count: number, direction: string): string {
  const ranges = Array.from(
    { length: count },
    (_, index) =>
      `SELECT position, json FROM events INDEXED BY events_by_class
       WHERE class = ?${index + 4} AND position BETWEEN ?1 AND ?2`,
  );
  return `${ranges.join(" UNION ALL ")} ORDER BY position ${direction} LIMIT ?3`;
}
