import type { Pool } from "pg";
import { blockMessageLimit } from "../sqlite/body.ts";
import { gramsOfNeedle } from "./blocks.ts";
import type { LogRange } from "./events.ts";
import { toComparable } from "./storable-text.ts";

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
 * Finds messages by a part of their text. The first few hundred that may match are looked through in order; when they have too
 * little, blocks are found by the needle's grams and only their messages are looked through, and those that no block has yet.
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
    const direction = isDescending ? "DESC" : "ASC";
    const { rows } = await this.#pool.query<{ seq: number; is_match: boolean }>(
      `SELECT seq, is_match FROM convoke.texts_${isDescending ? "descending" : "ascending"}($1, $2, $3, $4, $5, ${scannedFirst})`,
      [log.number, classes, toComparable(needle), fromSeq, toSeq],
    );
    const found = rows.filter((row) => row.is_match).map(({ seq }) => seq);
    const last = rows.at(-1);
    if (found.length >= limit || last === undefined || rows.length < scannedFirst)
      return found.slice(0, limit);
    const rest = isDescending ? { ...query, toSeq: last.seq - 1 } : { ...query, fromSeq: last.seq + 1 };
    const more = await this.#pool.query<{ seq: number }>(`${matchesSql} ORDER BY seq ${direction} LIMIT $7`, [
      ...valuesOf(rest),
      limit - found.length,
    ]);
    return [...found, ...more.rows.map(({ seq }) => seq)];
  }

  async count(query: BodyQuery): Promise<number> {
    const { rows } = await this.#pool.query<{ total: number }>(
      `SELECT count(*) AS total FROM (${matchesSql}) matches`,
      valuesOf(query),
    );
    return rows[0]!.total;
  }
}

function valuesOf({ log, classes, needle, fromSeq, toSeq }: BodyQuery): unknown[] {
  const comparable = toComparable(needle);
  return [log.number, classes, comparable, fromSeq, toSeq, gramsOfNeedle(log.number, comparable)];
}

/**
 * Parameters: log, classes, needle, first and last `seq`, grams. `LATERAL` with a limit: of each block only its own messages are read,
 * whatever the planner thinks of how many those are.
 */
const matchesSql = `
  WITH found AS MATERIALIZED (
    SELECT first_seq, last_seq FROM convoke.blocks_with($6::integer[]) WHERE log = $1
  ), indexed AS MATERIALIZED (
    SELECT last_seq FROM convoke.blocks WHERE log = $1 ORDER BY first_seq DESC LIMIT 1
  )
  SELECT t.seq FROM found f CROSS JOIN LATERAL (
    SELECT * FROM convoke.texts WHERE log = $1 AND seq BETWEEN f.first_seq AND f.last_seq ORDER BY seq LIMIT ${blockMessageLimit}
  ) t
  WHERE t.seq BETWEEN $4 AND $5 AND t.class = ANY ($2::smallint[]) AND strpos(t.folded, $3) > 0
  UNION ALL
  SELECT t.seq FROM convoke.texts t
  WHERE t.log = $1 AND t.seq > coalesce((SELECT last_seq FROM indexed), 0) AND t.seq BETWEEN $4 AND $5
    AND t.class = ANY ($2::smallint[]) AND strpos(t.folded, $3) > 0`;
