import type { Pool } from "pg";
import { idAfter, toIdBytes, toIdText } from "../event-id.ts";
import type { EventWithMeta, LogHead, StoredEvent } from "../journal.ts";
import { maxPageCharacters, PageBound, pageLength } from "../page-bound.ts";
import { damagedJson } from "../shown-event.ts";
import { isBesideIntact, isJsonIntact } from "../checksum.ts";
import { positionOf } from "./schema.ts";

/** One conversation's log at the time of the lookup. */
export type LogRange = { readonly number: number; readonly lastSeq: number };

/**
 * Reads events by `seq`, by id and by time. A log is gapless: an event that is gone or altered is given all the same, in its
 * place, as {@link damagedJson}.
 */
export class EventReader {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Null when there is no such conversation. */
  async open(conversationId: string): Promise<LogRange | null> {
    const head = await this.head(conversationId);
    return head === null ? null : { number: head.log, lastSeq: head.lastSeq };
  }

  /** Null when there is no such conversation. */
  async head(conversationId: string): Promise<LogHead | null> {
    const { rows } = await this.#pool.query<LogHead>({
      name: "head",
      text: `SELECT h.number AS log, h.last_seq AS "lastSeq",
         CASE WHEN c.is_copying THEN NULL ELSE c.owner_id END AS "ownerId" FROM convoke.conversations c JOIN convoke.heads h USING (number)
       WHERE c.id = $1`,
      values: [conversationId],
    });
    return rows[0] ?? null;
  }

  /** How long its events are together, in bytes; 0 when there is no such conversation. */
  async sizeOf(conversationId: string): Promise<number> {
    const { rows } = await this.#pool.query<{ bytes: number }>(
      `SELECT coalesce(sum(octet_length(e.json)), 0)::float8 AS bytes
       FROM convoke.conversations c JOIN convoke.events e ON e.log = c.number WHERE c.id = $1`,
      [conversationId],
    );
    return rows[0]?.bytes ?? 0;
  }

  /** Events with `seq > afterSeq`, ascending, at most `limit`; fewer when they are long. One statement. */
  async readAfter(conversationId: string, afterSeq: number, limit: number): Promise<StoredEvent[]> {
    const { rows } = await this.#pool.query<LogRange & StoredJson>(readAfterSql, [
      conversationId,
      afterSeq,
      limit,
    ]);
    const log = rows[0];
    if (log === undefined) return [];
    const found = log.seq === null ? [] : rows;
    const page = await this.fill(log, found, afterSeq + 1, Math.min(log.lastSeq, afterSeq + limit), 1);
    return page.slice(0, pageLength(page, limit));
  }

  /**
   * All of `[from, to]`, walked in steps of 1 or -1, with a stand-in for each event that is gone or altered. It ends early with
   * the event behind the one that makes a page long enough.
   */
  async fill(
    log: LogRange,
    rows: readonly StoredJson[],
    from: number,
    to: number,
    step: 1 | -1,
  ): Promise<StoredEvent[]> {
    const bySeq = new Map(rows.map((row) => [row.seq, row]));
    const events: StoredEvent[] = [];
    const bound = new PageBound();
    let hasGap = false;
    for (let seq = from; step === 1 ? seq <= to : seq >= to; seq += step) {
      const row = bySeq.get(seq);
      hasGap ||= row === undefined;
      if (row === undefined) events.push({ seq, id: await this.idAt(log, seq), json: damagedJson });
      else events.push({ seq, id: row.id, json: intactJson(log, row) });
      if (bound.isReached) break;
      bound.add(row?.json ?? "");
    }
    // Rows that are missing because the log is being removed are no damage.
    return hasGap && !(await this.#isThere(log)) ? [] : events;
  }

  /** The events of these places in order, with their meta; the log has to reach to all of them. */
  async readEach(log: LogRange, seqs: readonly number[]): Promise<EventWithMeta[]> {
    const { rows } = await this.#pool.query<OneRow>(
      "SELECT seq, id, at, class, json, meta, checksum FROM convoke.events WHERE log = $1 AND seq = ANY ($2::integer[])",
      [log.number, seqs],
    );
    const bySeq = new Map(rows.map((row) => [row.seq, row]));
    const events: EventWithMeta[] = [];
    for (const seq of seqs) {
      const row = bySeq.get(seq);
      if (row === undefined)
        events.push({ seq, id: await this.idAt(log, seq), json: damagedJson, meta: null });
      else events.push(toEvent(log, row));
    }
    return events;
  }

  /** In the order of `ids`, with their meta; null for those that the log does not have. */
  async readByIds(conversationId: string, ids: readonly string[]): Promise<(EventWithMeta | null)[]> {
    const log = await this.open(conversationId);
    if (log === null) return ids.map(() => null);
    const seqs = await this.seqsOfIds(log, ids);
    const found = await this.readEach(
      log,
      seqs.filter((seq) => seq !== null),
    );
    const bySeq = new Map(found.map((event) => [event.seq, event]));
    return seqs.map((seq) => (seq === null ? null : (bySeq.get(seq) ?? null)));
  }

  /** An event without a row has an id between those of the adjacent events, always the same. */
  async idAt(log: LogRange, seq: number): Promise<string> {
    const { rows } = await this.#pool.query<{ seq: number; id: string }>(
      "SELECT seq, id FROM convoke.events WHERE log = $1 AND seq <= $2 ORDER BY seq DESC LIMIT 1",
      [log.number, seq],
    );
    const { seq: before, id } = rows[0] ?? { seq: 0, id: noId };
    return before === seq ? id : toIdText(idAfter(toIdBytes(id)!, seq - before));
  }

  /** For each id its place, null for those that the log does not have. */
  async seqsOfIds(log: LogRange, ids: readonly string[]): Promise<(number | null)[]> {
    const known = ids.filter((id) => toIdBytes(id) !== null);
    const { rows } = await this.#pool.query<{ seq: number; id: string }>(
      "SELECT seq, id FROM convoke.events WHERE log = $1 AND seq <= $2 AND id = ANY ($3::uuid[])",
      [log.number, log.lastSeq, known],
    );
    const byId = new Map(rows.map(({ seq, id }) => [id, seq]));
    const seqs: (number | null)[] = [];
    for (const id of ids) {
      const isUuid = toIdBytes(id) !== null;
      seqs.push(byId.get(id) ?? (isUuid ? await this.#seqOfGap(log, id) : null));
    }
    return seqs;
  }

  /** The first `seq` whose time is not before the instant; one after the last when there is none. */
  async firstSeqAtOrAfter(log: LogRange, timestampMicros: number): Promise<number> {
    const { rows } = await this.#pool.query<{ seq: number }>(
      "SELECT seq FROM convoke.events WHERE log = $1 AND at < $2 ORDER BY at DESC LIMIT 1",
      [log.number, timestampMicros],
    );
    return Math.min(log.lastSeq, rows[0]?.seq ?? 0) + 1;
  }

  /** The place of an event that is gone, by the id that {@link idAt} gives it. */
  async #seqOfGap(log: LogRange, id: string): Promise<number | null> {
    const { rows } = await this.#pool.query<{ seq: number; id: string; next: number | null }>(
      `SELECT e.seq, e.id, (SELECT min(n.seq) FROM convoke.events n WHERE n.log = e.log AND n.seq > e.seq) AS next
       FROM convoke.events e WHERE e.log = $1 AND e.id < $2::uuid ORDER BY e.id DESC LIMIT 1`,
      [log.number, id],
    );
    const before = rows[0] ?? { seq: 0, id: noId, next: 1 };
    const steps = numberOf(id) - numberOf(before.id);
    const end = before.next ?? log.lastSeq + 1;
    return steps < BigInt(end - before.seq) ? before.seq + Number(steps) : null;
  }

  async #isThere(log: LogRange): Promise<boolean> {
    const { rowCount } = await this.#pool.query("SELECT FROM convoke.heads WHERE number = $1", [log.number]);
    return rowCount === 1;
  }
}

const noId = "00000000-0000-0000-0000-000000000000";

function numberOf(id: string): bigint {
  return BigInt(`0x${id.replaceAll("-", "")}`);
}

export type StoredJson = {
  readonly seq: number;
  readonly id: string;
  readonly json: string;
  readonly checksum: number;
};
export type OneRow = StoredJson & {
  readonly at: number;
  readonly class: number;
  readonly meta: string | null;
};

export function intactJson(
  log: Pick<LogRange, "number">,
  { seq, json, checksum }: Pick<OneRow, "seq" | "json" | "checksum">,
): string {
  return isJsonIntact(positionOf(log.number, seq), json, checksum) ? json : damagedJson;
}

export function toEvent(log: Pick<LogRange, "number">, row: OneRow): EventWithMeta {
  const { seq, id, at: timestamp, class: classCode, meta, checksum } = row;
  const json = intactJson(log, row);
  if (json === damagedJson) return { seq, id, json, meta: null };
  const isWhole = isBesideIntact(
    { id: toIdBytes(id)!, timestamp, classCode, json, text: null, meta },
    checksum,
  );
  // Who needs what stands beside the event must not guess it; the event itself is whole.
  return { seq, id, json, meta: isWhole ? meta : damagedJson };
}

/**
 * Rows up to the one behind that which makes a page long enough: what is left off is not sent to be thrown away. In UTF-8 a text
 * has at most three bytes for each of its characters.
 */
export function boundedSql(rows: string, direction: "ASC" | "DESC"): string {
  return `
    SELECT seq, id, json, checksum FROM (
      SELECT r.*, coalesce(sum(octet_length(json)) OVER (ORDER BY seq ${direction}
        ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING), 0) < ${maxPageBytes} AS fits
      FROM (${rows}) r
    ) bounded WHERE fits ORDER BY seq ${direction}`;
}

const maxPageBytes = 3 * maxPageCharacters;

const readAfterSql = `
  SELECT h.number, h.last_seq AS "lastSeq", e.* FROM convoke.conversations c JOIN convoke.heads h USING (number)
  LEFT JOIN LATERAL (${boundedSql(
    `SELECT seq, id, json, checksum FROM convoke.events e
     WHERE e.log = h.number AND e.seq > $2 AND e.seq <= least(h.last_seq, $2::bigint + $3::bigint) ORDER BY e.seq`,
    "ASC",
  )}) e ON TRUE
  WHERE c.id = $1 ORDER BY e.seq`;
