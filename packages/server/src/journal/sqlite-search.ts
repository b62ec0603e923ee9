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
    const { body } = query;
    if (body === undefined) {
      return this.#reader.snapshot(() => {
        const plan = this.#plan(conversationId, query, query.pageId, isDescending);
        const matches = plan === null ? [] : this.#readMatches(plan, isDescending, query.limit + 1);
        return this.#toPage(plan, matches, query.limit);
      });
    }
    const search = this.#reader.snapshot(() => {
      const plan = this.#plan(conversationId, query, query.pageId, isDescending);
      return plan === null ? null : { plan, found: this.#bodies.start({ ...plan, body, isDescending }) };
    });
    if (search === null) return { items: [], nextPageId: null };
    const matches: Match[] = [];
    for await (const match of search.found) {
      matches.push(match);
      if (matches.length > query.limit) break;
    }
    return this.#toPage(search.plan, matches, query.limit);
  }

  async count(conversationId: string, filter: EventFilter): Promise<number> {
    const { body } = filter;
    const counted = this.#reader.snapshot(() => {
      const plan = this.#plan(conversationId, filter, undefined, false);
      if (plan === null) return null;
      const found = body === undefined ? null : this.#bodies.start({ ...plan, body, isDescending: false });
      return { plan, found, recent: found === null ? this.#countRecent(plan) : 0 };
    });
    if (counted === null) return 0;
    const { plan, found, recent } = counted;
    if (plan.classes === null) return plan.toSeq - plan.fromSeq + 1;
    if (found !== null) {
      let total = 0;
      for await (const _ of found) total += 1;
      return total;
    }
    return recent + (await this.#countSettled(plan));
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
    if (classes.length === 0) return [];
    return this.#readMatches({ log, fromSeq, toSeq, classes }, false, limit).map(({ seq }) => seq);
  }

  #toPage(plan: Plan | null, matches: readonly Match[], limit: number): EventPageText {
    const next = matches[limit];
    return {
      items: matches.slice(0, limit).map(({ json }) => json),
      nextPageId: next === undefined || plan === null ? null : this.#reader.idAt(plan.log, next.seq),
    };
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

  #readMatches(plan: Plan, isDescending: boolean, limit: number): Match[] {
    const { log, fromSeq, toSeq } = plan;
    const settled = (count: number): Match[] =>
      this.#readPart("events", { ...plan, toSeq: Math.min(toSeq, log.settledSeq) }, isDescending, count);
    const recent = (count: number): Match[] =>
      this.#readPart(
        "recent",
        { ...plan, fromSeq: Math.max(fromSeq, log.settledSeq + 1) },
        isDescending,
        count,
      );
    return readDamageAware(
      log,
      () => {
        const [first, second] = isDescending ? [recent, settled] : [settled, recent];
        const matches = first(limit);
        return matches.length < limit ? [...matches, ...second(limit - matches.length)] : matches;
      },
      () => this.#reader.findDamage(log, fromSeq, toSeq),
    );
  }

  #readPart(table: Table, plan: Plan, isDescending: boolean, limit: number): Match[] {
    const { log, fromSeq, toSeq, classes } = plan;
    if (fromSeq > toSeq) return [];
    const base = positionOf(log.number, 0);
    const statement = this.#prepare(
      matchesSql(table, classes?.length ?? null, isDescending ? "DESC" : "ASC"),
    );
    const codes = classes?.map(({ code }) => code) ?? [];
    const rows = statement.all(base + fromSeq, base + toSeq, limit, ...codes) as unknown as [
      number,
      string,
    ][];
    return rows.map(([position, json]) => ({ seq: position - base, json }));
  }

  #countRecent({ log, fromSeq, toSeq, classes }: Plan): number {
    if (classes === null) return 0;
    const base = positionOf(log.number, 0);
    const statement = this.#prepare(
      `SELECT count(*) FROM recent WHERE position BETWEEN ? AND ? AND class IN (${classes.map(() => "?").join()})`,
    );
    const from = base + Math.max(fromSeq, log.settledSeq + 1);
    return (statement.get(from, base + toSeq, ...classes.map(({ code }) => code)) as unknown as [number])[0];
  }

  /** In slices, so that a large count never holds the event loop. */
  async #countSettled({ log, fromSeq, toSeq, classes }: Plan): Promise<number> {
    let total = 0;
    const base = positionOf(log.number, 0);
    const end = Math.min(toSeq, log.settledSeq);
    const statement = this.#prepare(
      "SELECT count(*) FROM events INDEXED BY events_by_class WHERE class = ? AND position BETWEEN ? AND ?",
    );
    for (const { code } of classes ?? []) {
      for (let from = fromSeq; from <= end; from += countSlice) {
        const to = Math.min(end, from + countSlice - 1);
        total += (statement.get(code, base + from, base + to) as unknown as [number])[0];
        if (to < end) await yieldToEventLoop();
      }
    }
    return total;
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

type Table = "events" | "recent";

/** Parameters: first and last position, limit, class codes. A null count means all classes. */
function matchesSql(table: Table, classCount: number | null, direction: "ASC" | "DESC"): string {
  const order = `ORDER BY position ${direction} LIMIT ?3`;
  const range = `SELECT position, json FROM ${table} WHERE position BETWEEN ?1 AND ?2`;
  if (classCount === null) return `${range} ${order}`;
  const codes = Array.from({ length: classCount }, (_, index) => `?${index + 4}`);
  // Few events are recent: their classes are looked at one by one.
  if (table === "recent") return `${range} AND class IN (${codes.join()}) ${order}`;
  // SQLite merges the classes' index ranges lazily, so only the rows of the page are read.
  const ranges = codes.map(
    (code) =>
      `SELECT position, json FROM events INDEXED BY events_by_class WHERE class = ${code} AND position BETWEEN ?1 AND ?2`,
  );
  return `${ranges.join(" UNION ALL ")} ${order}`;
}
