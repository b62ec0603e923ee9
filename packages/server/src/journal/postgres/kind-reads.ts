import type { Pool } from "pg";
import type { EventWithMeta, Journal } from "../journal.ts";
import { toEvent, type OneRow } from "./event-reader.ts";

/** Events per read. */
const sliceSize = 500;

/** Events of some kinds in `[fromSeq, toSeq]`, ascending, with their meta; one statement for a slice: loading a conversation waits for each. */
export async function readKinds(
  pool: Pool,
  ...[conversationId, kinds, fromSeq, toSeq]: Parameters<Journal["readKinds"]>
): Promise<EventWithMeta[]> {
  const events: EventWithMeta[] = [];
  if (kinds.length === 0) return events;
  let log: number | null = null;
  for (let from = Math.max(1, fromSeq); ;) {
    const { rows } = await pool.query<OneRow & { readonly log: number }>({
      name: "kinds",
      text: kindsSql,
      values: [conversationId, kinds, from, toSeq, sliceSize],
    });
    const last = rows.at(-1);
    // Deleted meanwhile, and made again under its id.
    if (last === undefined || (log !== null && log !== last.log)) return events;
    log = last.log;
    for (const row of rows) events.push(toEvent({ number: row.log }, row));
    if (rows.length < sliceSize) return events;
    from = last.seq + 1;
  }
}

/** Each class is a range of one index, read no further than the limit; all of them in one range would be sorted as a whole. */
const kindsSql = `
  SELECT e.log, e.seq, e.id, e.at, e.class, e.json, e.meta, e.checksum FROM (
    SELECT h.number, part.seq FROM convoke.conversations c JOIN convoke.heads h USING (number)
    CROSS JOIN (SELECT code FROM convoke.classes WHERE kind = ANY ($2::text[])) selected
    CROSS JOIN LATERAL (
      SELECT e.seq FROM convoke.events e
      WHERE e.log = h.number AND e.class = selected.code AND e.seq BETWEEN $3 AND least($4::bigint, h.last_seq)
      ORDER BY e.seq LIMIT $5
    ) part
    WHERE c.id = $1 ORDER BY part.seq LIMIT $5
  ) found JOIN convoke.events e ON e.log = found.number AND e.seq = found.seq ORDER BY e.seq`;
