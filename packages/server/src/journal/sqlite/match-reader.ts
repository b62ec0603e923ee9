import type { DatabaseSync } from "node:sqlite";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { ClassIndex } from "./class-index.ts";
import type { EventClass } from "./classes.ts";
import { PageBound, pageLength } from "../page-bound.ts";
import { isJsonIntact } from "../checksum.ts";
import { seqsBetween, type EventReader } from "./event-reader.ts";
import type { LogRange } from "./log-ends.ts";
import { inPlace, isStorageFault, positionOf, unlessDamaged } from "./schema.ts";
import { CachedStatements } from "../../database/cached-statements.ts";

/** A filter as ranges of indexes: the span of `seq` and, when kind, source or body matter, the classes. */
export type Plan = {
  readonly log: LogRange;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly classes: readonly EventClass[] | null;
};

/** One match; the JSON is exactly what was appended. */
export type Match = { readonly seq: number; readonly json: string };

/** Reads and counts what a plan selects, from the settled and the recent part of the log. */
export class MatchReader {
  readonly #reader: EventReader;
  readonly #statements: CachedStatements;
  readonly #classIndex: ClassIndex;

  constructor(database: DatabaseSync, reader: EventReader, classIndex: ClassIndex) {
    this.#statements = new CachedStatements(database, { returnsArrays: true });
    this.#reader = reader;
    this.#classIndex = classIndex;
  }

  /** In order, at most `limit` and one more, which begins the next page; inside the caller's snapshot. */
  read(plan: Plan, isDescending: boolean, limit: number): Match[] {
    const bound = new PageBound();
    const matches: Match[] = [];
    for (const [table, part] of toParts(plan, isDescending)) {
      const room = limit + 1 - matches.length;
      if (room < 1 || matches.length > pageLength(matches, limit)) break;
      matches.push(...this.#readPart(table, part, isDescending, room, bound));
    }
    return matches;
  }

  /** The `seq` of each match in order, at most `limit`; inside the caller's snapshot. */
  readSeqs(plan: Plan, limit: number, isDescending = false): number[] {
    const seqs: number[] = [];
    for (const [table, part] of toParts(plan, isDescending)) {
      if (part.fromSeq > part.toSeq || seqs.length >= limit) continue;
      seqs.push(...this.#seqsOfClasses(table, part, isDescending, limit - seqs.length));
    }
    return seqs;
  }

  /** One by one, up to the one behind the one that makes the page long enough; inside the caller's snapshot. */
  readEach(log: LogRange, seqs: readonly number[]): Match[] {
    const bound = new PageBound();
    const matches: Match[] = [];
    for (const seq of seqs) {
      const json = this.#reader.readJson(log, seq);
      matches.push({ seq, json });
      if (bound.isReached) break;
      bound.add(json);
    }
    return matches;
  }

  /** Inside the caller's snapshot. */
  countRecent({ log, fromSeq, toSeq, classes }: Plan): number {
    if (classes === null) return 0;
    const base = positionOf(log.number, 0);
    const statement = this.#statements.get(
      `SELECT count(*) FROM recent WHERE position BETWEEN ? AND ? AND class IN (${classes.map(() => "?").join()})`,
    );
    const from = base + Math.max(fromSeq, log.settledSeq + 1);
    return (statement.get(from, base + toSeq, ...classes.map(({ code }) => code)) as unknown as [number])[0];
  }

  /** In slices, so that a large count never holds the event loop. */
  async countSettled(plan: Plan): Promise<number> {
    const { log, fromSeq, toSeq, classes } = plan;
    let total = 0;
    const base = positionOf(log.number, 0);
    const end = Math.min(toSeq, log.settledSeq);
    if (!this.#classIndex.isComplete(log))
      return this.#seqsOneByOne({ ...plan, toSeq: end }, false, end).length;
    const statement = this.#statements.get(
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

  /** Up to the match behind the one that makes the page long enough. */
  #readPart(table: Table, plan: Plan, isDescending: boolean, limit: number, bound: PageBound): Match[] {
    if (plan.fromSeq > plan.toSeq) return [];
    if (plan.classes !== null && table === "events" && !this.#classIndex.isComplete(plan.log))
      return this.#readSingly(table, plan, isDescending, limit);
    // A log is gapless: a limit that ends the range spares the step to the page after it.
    const count = plan.classes === null ? Math.min(limit, plan.toSeq - plan.fromSeq + 1) : limit;
    const base = positionOf(plan.log.number, 0);
    const matches: Match[] = [];
    const step = isDescending ? -1 : 1;
    let next = isDescending ? plan.toSeq : plan.fromSeq;
    try {
      const rows = this.#select("json, checksum", table, plan, isDescending, count);
      for (const [position, json, checksum] of rows) {
        // Without a filter every place of the range has its event.
        const isNext = plan.classes !== null || position === base + next;
        if (!isNext || !isJsonIntact(position, json, checksum))
          return this.#readSingly(table, plan, isDescending, count);
        matches.push({ seq: position - base, json });
        next += step;
        if (bound.isReached || matches.length >= count) return matches;
        bound.add(json);
      }
      const isWhole = plan.classes !== null || matches.length === count;
      return isWhole ? matches : this.#readSingly(table, plan, isDescending, count);
    } catch (error) {
      if (!isStorageFault(error)) throw error;
      return this.#readSingly(table, plan, isDescending, count);
    }
  }

  /** For a page with damage in it. */
  #readSingly(table: Table, plan: Plan, isDescending: boolean, count: number): Match[] {
    const seqs =
      plan.classes === null
        ? seqsOfPage(plan, isDescending, count)
        : this.#seqsOfClasses(table, plan, isDescending, count);
    return this.readEach(plan.log, seqs);
  }

  /** As the index has them, which also knows those that are damaged; by the rows where it is damaged itself. */
  #seqsOfClasses(table: Table, plan: Plan, isDescending: boolean, count: number): number[] {
    if (table === "events" && !this.#classIndex.isComplete(plan.log))
      return this.#seqsOneByOne(plan, isDescending, count);
    const base = positionOf(plan.log.number, 0);
    return unlessDamaged(
      () => Array.from(this.#select("NULL, NULL", table, plan, isDescending, count), ([at]) => at - base),
      () => this.#seqsWithoutIndex(table, plan, isDescending, count),
    );
  }

  /** By what stands at each place: the same in both orders, whatever is damaged. */
  #seqsOneByOne({ log, fromSeq, toSeq, classes }: Plan, isDescending: boolean, count: number): number[] {
    const codes = new Set(classes?.map(({ code }) => code));
    const found: number[] = [];
    const all = seqsBetween(fromSeq, toSeq);
    for (const seq of isDescending ? all.toReversed() : all) {
      if (found.length >= count) break;
      const code = this.#reader.find(log, seq)?.[3];
      if (code !== undefined && codes.has(code)) found.push(seq);
    }
    return found;
  }

  #seqsWithoutIndex(
    table: Table,
    { log, fromSeq, toSeq, classes }: Plan,
    isDescending: boolean,
    count: number,
  ): number[] {
    const base = positionOf(log.number, 0);
    const codes = classes?.map(({ code }) => code) ?? [];
    const statement = this.#statements.get(
      `SELECT position, NULL, NULL FROM ${table} ${table === "events" ? "NOT INDEXED" : ""} WHERE position BETWEEN ? AND ?
       AND class IN (${codes.map(() => "?").join()}) ORDER BY position ${isDescending ? "DESC" : "ASC"} LIMIT ?`,
    );
    const bounds = [base + fromSeq, base + toSeq] as const;
    const rows = statement.all(...bounds, ...codes, count) as unknown as [number][];
    return Array.from(inPlace(rows, bounds, isDescending), ([at]) => at - base);
  }

  #select(
    column: "json, checksum" | "NULL, NULL",
    table: Table,
    { log, fromSeq, toSeq, classes }: Plan,
    isDescending: boolean,
    count: number,
  ): Iterable<[position: number, json: unknown, checksum: unknown]> {
    const base = positionOf(log.number, 0);
    const sqlOf = (columns: Columns): string =>
      matchesSql(table, columns, classes?.length ?? null, isDescending ? "DESC" : "ASC");
    const codes = classes?.map(({ code }) => code) ?? [];
    const values = [base + fromSeq, base + toSeq, count, ...codes];
    const statement = this.#statements.get(sqlOf(column));
    // One by one costs a third more, so only what would fill the memory is read like that.
    const isShort = column === "NULL, NULL" || this.#bytesOf(sqlOf, values) <= maxBytesTogether;
    const rows = isShort ? statement.all(...values) : statement.iterate(...values);
    return inPlace(
      rows as unknown as Iterable<[number, unknown, unknown]>,
      [base + fromSeq, base + toSeq],
      isDescending,
    );
  }

  /** How long a text is stands at the beginning of its row: nothing of the texts is read. */
  #bytesOf(sqlOf: (columns: Columns) => string, values: readonly number[]): number {
    const sum = this.#statements.get(`SELECT total(bytes) FROM (${sqlOf("octet_length(json) AS bytes")})`);
    return (sum.get(...values) as unknown as [number])[0];
  }
}

const countSlice = 100_000;
const maxBytesTogether = 1024 * 1024;

function seqsOfPage({ fromSeq, toSeq }: Plan, isDescending: boolean, count: number): number[] {
  return isDescending
    ? seqsBetween(toSeq - count + 1, toSeq).toReversed()
    : seqsBetween(fromSeq, fromSeq + count - 1);
}

type Table = "events" | "recent";
type Columns = "json, checksum" | "NULL, NULL" | "octet_length(json) AS bytes";

/** What is settled and what is recent, in the order in which it is read. */
function toParts(plan: Plan, isDescending: boolean): [Table, Plan][] {
  const { log, fromSeq, toSeq } = plan;
  const parts: [Table, Plan][] = [
    ["events", { ...plan, toSeq: Math.min(toSeq, log.settledSeq) }],
    ["recent", { ...plan, fromSeq: Math.max(fromSeq, log.settledSeq + 1) }],
  ];
  return isDescending ? parts.toReversed() : parts;
}

/** Parameters: first and last position, limit, class codes. A null count means all classes. */
function matchesSql(
  table: Table,
  columns: Columns,
  classCount: number | null,
  direction: "ASC" | "DESC",
): string {
  const order = `ORDER BY position ${direction} LIMIT ?3`;
  const range = `SELECT position, ${columns} FROM ${table} WHERE position BETWEEN ?1 AND ?2`;
  if (classCount === null) return `${range} ${order}`;
  const codes = Array.from({ length: classCount }, (_, index) => `?${index + 4}`);
  // Few events are recent: their classes are compared one by one.
  if (table === "recent") return `${range} AND class IN (${codes.join()}) ${order}`;
  // SQLite merges the classes' index ranges lazily, so only the rows of the page are read.
  const ranges = codes.map(
    (code) =>
      `SELECT position, ${columns} FROM events INDEXED BY events_by_class WHERE class = ${code} AND position BETWEEN ?1 AND ?2`,
  );
  return `${ranges.join(" UNION ALL ")} ${order}`;
}
