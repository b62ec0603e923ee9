import type { Pool } from "pg";
import { gramsOfBody } from "../text-grams.ts";
import { integers } from "./arrays.ts";
import type { LogRange } from "./event-reader.ts";
import { toComparable } from "./storable-text.ts";
import { scopeGrams } from "./texts/indexer.ts";

export type BodyQuery = {
  readonly log: LogRange;
  /** Those with searchable texts. */
  readonly classes: readonly number[];
  /** Folded. */
  readonly needle: string;
  readonly fromSeq: number;
  readonly toSeq: number;
};

/** A frequent needle is found among so many messages of the classes that are asked for. */
const scannedFirst = 400;

/**
 * Finds messages by a part of their text. The first few hundred candidates are searched in order; when they have too
 * few matches, blocks of the index are found by the needle's grams, and only their messages and those not indexed yet are searched.
 */
export class BodySearch {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** The `seq` of the matches in order, at most `limit`. */
  async find(
    query: BodyQuery,
    { limit, isDescending }: { readonly limit: number; readonly isDescending: boolean },
  ): Promise<number[]> {
    const { log, classes, needle, fromSeq, toSeq } = query;
    const { rows } = await this.#pool.query<{ seq: number; is_match: boolean }>(
      `SELECT seq, is_match FROM convoke.texts_${isDescending ? "descending" : "ascending"}($1, $2, $3, $4, $5, ${scannedFirst})`,
      [log.number, classes, toComparable(needle), fromSeq, toSeq],
    );
    const found = rows.filter((row) => row.is_match).map(({ seq }) => seq);
    const last = rows.at(-1);
    if (found.length >= limit || last === undefined || rows.length < scannedFirst)
      return found.slice(0, limit);
    const rest = isDescending ? { ...query, toSeq: last.seq - 1 } : { ...query, fromSeq: last.seq + 1 };
    const more = await this.#pool.query<{ seq: number }>(
      matchesSql("seq", isDescending),
      valuesOf(rest, limit - found.length),
    );
    return [...found, ...more.rows.map(({ seq }) => seq)];
  }

  async count(query: BodyQuery): Promise<number> {
    const { rows } = await this.#pool.query<{ total: number }>(
      matchesSql("count(*) AS total", false),
      valuesOf(query, null),
    );
    return rows[0]!.total;
  }
}

function valuesOf({ log, classes, needle, fromSeq, toSeq }: BodyQuery, limit: number | null): unknown[] {
  const comparable = toComparable(needle);
  const classGrams = classes.map((code) => scopeGrams.messages(log.number, code));
  const grams = integers(gramsOfBody(comparable));
  return [log.number, classes, classGrams, grams, comparable, fromSeq, toSeq, limit];
}

function matchesSql(columns: string, isDescending: boolean): string {
  return `SELECT ${columns} FROM convoke.matches_${isDescending ? "descending" : "ascending"}($1, $2, $3, $4, $5, $6, $7, $8)`;
}
