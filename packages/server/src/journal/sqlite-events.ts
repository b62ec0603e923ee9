import type { DatabaseSync, StatementSync } from "node:sqlite";
import { DamagedEventError, type EventWithMeta, type StoredEvent } from "./journal.ts";
import { toIdBytes, toIdText } from "./event-id.ts";
import { maxSeq, positionOf } from "./sqlite-schema.ts";

/** One conversation's log as it was when it was looked up. */
export type LogRange = { readonly conversationId: string; readonly number: number; readonly lastSeq: number };

/** Reads events by `seq`, by id and by time. Ids and times grow with `seq`, so both are found by halving, without an index. */
export class EventReader {
  readonly #number: StatementSync;
  readonly #last: StatementSync;
  readonly #range: StatementSync;
  readonly #one: StatementSync;
  readonly #id: StatementSync;
  readonly #timestamp: StatementSync;

  constructor(database: DatabaseSync) {
    const prepare = (sql: string): StatementSync => {
      const statement = database.prepare(sql);
      statement.setReturnArrays(true);
      return statement;
    };
    this.#number = prepare("SELECT number FROM conversations WHERE id = ?");
    this.#last = prepare(
      "SELECT position FROM events WHERE position BETWEEN ? AND ? ORDER BY position DESC LIMIT 1",
    );
    this.#range = prepare(
      "SELECT position, id, json FROM events WHERE position BETWEEN ? AND ? ORDER BY position LIMIT ?",
    );
    this.#one = prepare("SELECT id, json, meta FROM events WHERE position = ?");
    this.#id = prepare("SELECT id FROM events WHERE position = ?");
    this.#timestamp = prepare("SELECT timestamp FROM events WHERE position = ?");
  }

  /** Null when there is no such conversation. */
  open(conversationId: string): LogRange | null {
    const row = this.#number.get(conversationId) as unknown as [number] | undefined;
    if (row === undefined) return null;
    const base = positionOf(row[0], 0);
    const last = this.#last.get(base + 1, base + maxSeq) as unknown as [number] | undefined;
    return { conversationId, number: row[0], lastSeq: last === undefined ? 0 : last[0] - base };
  }

  /** Events of `[fromSeq, toSeq]`, ascending, at most `limit`. */
  readRange(log: LogRange, fromSeq: number, toSeq: number, limit: number): StoredEvent[] {
    const base = positionOf(log.number, 0);
    const rows = readDamageAware(
      log,
      () => this.#range.all(base + fromSeq, base + toSeq, limit) as unknown as [number, Uint8Array, string][],
      () => this.findDamage(log, fromSeq, Math.min(toSeq, fromSeq + limit - 1)),
    );
    return rows.map(([position, id, json]) => ({ seq: position - base, id: toIdText(id), json }));
  }

  /** Null when the log has no such `seq`. */
  readOne(log: LogRange, seq: number): EventWithMeta | null {
    const row = readDamageAware(
      log,
      () =>
        this.#one.get(positionOf(log.number, seq)) as unknown as
          | [Uint8Array, string, string | null]
          | undefined,
      () => seq,
    );
    return row === undefined ? null : { seq, id: toIdText(row[0]), json: row[1], meta: row[2] };
  }

  idAt(log: LogRange, seq: number): string {
    return toIdText(this.#idBytesAt(log, seq));
  }

  /** Null when the log has no such id. */
  seqOfId(log: LogRange, id: string): number | null {
    const wanted = toIdBytes(id);
    if (wanted === null) return null;
    const seq = firstSeqWhere(log, (at) => Buffer.compare(this.#idBytesAt(log, at), wanted) >= 0);
    return seq <= log.lastSeq && Buffer.compare(this.#idBytesAt(log, seq), wanted) === 0 ? seq : null;
  }

  /** The first `seq` whose time is not before the instant; one after the last when there is none. */
  firstSeqAtOrAfter(log: LogRange, timestampMicros: number): number {
    return firstSeqWhere(log, (seq) => {
      const row = this.#timestamp.get(positionOf(log.number, seq)) as unknown as [number] | undefined;
      if (row === undefined) throw missing(log, seq);
      return row[0] >= timestampMicros;
    });
  }

  /** The first `seq` of the range that cannot be read, null when all can. */
  findDamage(log: LogRange, fromSeq: number, toSeq: number): number | null {
    for (let seq = fromSeq; seq <= Math.min(toSeq, log.lastSeq); seq += 1) {
      try {
        this.#one.get(positionOf(log.number, seq));
      } catch {
        // This read is the question whether it throws.
        return seq;
      }
    }
    return null;
  }

  #idBytesAt(log: LogRange, seq: number): Uint8Array {
    const row = this.#id.get(positionOf(log.number, seq)) as unknown as [Uint8Array] | undefined;
    if (row === undefined) throw missing(log, seq);
    return row[0];
  }
}

/** Names the record that cannot be read, when it was that. */
export function readDamageAware<Result>(
  log: LogRange,
  read: () => Result,
  findDamagedSeq: () => number | null,
): Result {
  try {
    return read();
  } catch (error) {
    const seq = findDamagedSeq();
    if (seq === null) throw error;
    throw new DamagedEventError(log.conversationId, seq, { cause: error });
  }
}

function firstSeqWhere(log: LogRange, isReached: (seq: number) => boolean): number {
  let low = 1;
  let high = log.lastSeq + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isReached(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The log is gapless, so a hole below its end is damage. */
function missing(log: LogRange, seq: number): DamagedEventError {
  return new DamagedEventError(log.conversationId, seq);
}
