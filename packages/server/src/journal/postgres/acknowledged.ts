import type { Client } from "pg";
import type { LostEvents } from "../journal.ts";

type Last = { readonly number: number; readonly seq: number; readonly eventId: string | null };

/** How far each log that this process owns was acknowledged to it. */
export class Acknowledged {
  readonly #last = new Map<string, Last>();

  note(conversationId: string, last: Last): void {
    this.#last.set(conversationId, last);
  }

  forget(conversationId: string): void {
    this.#last.delete(conversationId);
  }

  /** Logs whose last event is not in the database (any more), and those that are not there at all. */
  async findLost(connection: Pick<Client, "query">): Promise<readonly LostEvents[]> {
    // A copy: entries are removed while it is iterated.
    const last = new Map(this.#last);
    if (last.size === 0) return [];
    const asked = [...last];
    const { rows } = await connection.query<{ id: string; storedSeq: number }>(lostSql, [
      asked.map(([id]) => id),
      asked.map(([, { number }]) => number),
      asked.map(([, { seq }]) => seq),
      asked.map(([, { eventId }]) => eventId),
    ]);
    return rows.map(({ id, storedSeq }) => {
      const { seq, eventId } = last.get(id)!;
      return { conversationId: id, acknowledgedSeq: seq, lastEventId: eventId, storedSeq };
    });
  }
}

const lostSql = `
  SELECT a.id, coalesce(h.last_seq, 0) AS "storedSeq"
  FROM unnest($1::text[], $2::bigint[], $3::integer[], $4::uuid[]) AS a (id, number, seq, event_id)
    LEFT JOIN convoke.conversations c ON c.id = a.id AND c.number = a.number
    LEFT JOIN convoke.heads h ON h.number = c.number
    LEFT JOIN convoke.events e ON e.log = c.number AND e.seq = a.seq
  WHERE c.number IS NULL OR e.id IS DISTINCT FROM a.event_id`;
