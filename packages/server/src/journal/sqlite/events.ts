import type { DatabaseSync, StatementSync } from "node:sqlite";
import { DamagedEventError, type EventWithMeta, type StoredEvent } from "../journal.ts";
import { toIdBytes, toIdText } from "../event-id.ts";
import { PageBound } from "../page-bound.ts";
import { isStorageFault, maxSeq, positionOf } from "./schema.ts";

/** One conversation's log as it was when it was looked up. */
export type LogRange = {
  readonly conversationId: string;
  readonly number: number;
  readonly lastSeq: number;
  /** The events up to here are in their place and stay there; those above are where they arrived. */
  readonly settledSeq: number;
};

/** What reads of one part of a log need. */
type Part = {
  readonly last: StatementSync;
  readonly range: StatementSync;
  readonly one: StatementSync;
  readonly id: StatementSync;
  readonly timestamp: StatementSync;
};

/** Reads events by `seq`, by id and by time. Ids and times grow with `seq`, so both are found by halving, without an index. */
export class EventReader {
  readonly #begin: StatementSync;
  readonly #end: StatementSync;
  readonly #number: StatementSync;
  readonly #settled: Part;
  readonly #recent: Part;

  constructor(database: DatabaseSync) {
    this.#begin = database.prepare("BEGIN");
    this.#end = database.prepare("ROLLBACK");
    this.#number = database.prepare("SELECT number FROM conversations WHERE id = ?");
    this.#number.setReturnArrays(true);
    this.#settled = preparePart(database, "events");
    this.#recent = preparePart(database, "recent");
  }

  /** Reads of one call see one state, also while events move to their place. Ends by a rollback: damage fails a commit. */
  snapshot<Result>(read: () => Result): Result {
    this.#begin.run();
    try {
      return read();
    } finally {
      this.#end.run();
    }
  }

  /** Null when there is no such conversation. */
  open(conversationId: string): LogRange | null {
    const row = this.#number.get(conversationId) as unknown as [number] | undefined;
    if (row === undefined) return null;
    const base = positionOf(row[0], 0);
    const seqOfLast = (part: Part): number => {
      const last = part.last.get(base + 1, base + maxSeq) as unknown as [number] | undefined;
      return last === undefined ? 0 : last[0] - base;
    };
    const settledSeq = seqOfLast(this.#settled);
    return {
      conversationId,
      number: row[0],
      settledSeq,
      lastSeq: Math.max(settledSeq, seqOfLast(this.#recent)),
    };
  }

  /** Events of `[fromSeq, toSeq]`, ascending, at most `limit`; fewer when they are long. */
  readRange(log: LogRange, fromSeq: number, toSeq: number, limit: number): StoredEvent[] {
    const lastSeq = Math.min(toSeq, log.lastSeq, fromSeq + limit - 1);
    const base = positionOf(log.number, 0);
    const events: StoredEvent[] = [];
    const bound = new PageBound();
    const readPart = (part: Part, from: number, to: number): void => {
      if (from > to || bound.isReached) return;
      const rows = part.range.iterate(base + from, base + to) as unknown as Iterable<RangeRow>;
      for (const [position, id, json] of rows) {
        events.push({ seq: position - base, id: toIdText(id), json });
        bound.add(json);
        if (bound.isReached) return;
      }
    };
    try {
      readPart(this.#settled, fromSeq, Math.min(lastSeq, log.settledSeq));
      readPart(this.#recent, Math.max(fromSeq, log.settledSeq + 1), lastSeq);
      return events;
    } catch (error) {
      if (!isStorageFault(error)) throw error;
      return this.readEach(log, seqsBetween(fromSeq, lastSeq)).map(({ seq, id, json }) => ({
        seq,
        id,
        json,
      }));
    }
  }

  /** One by one: after a fault, this tells which event is damaged, and reads the others when it is a neighbour. */
  readEach(log: LogRange, seqs: readonly number[]): EventWithMeta[] {
    return seqs.flatMap((seq) => this.readOne(log, seq) ?? []);
  }

  /** Null when the log has no such `seq`. */
  readOne(log: LogRange, seq: number): EventWithMeta | null {
    const row = readRow(log, seq, this.#partOf(log, seq).one) as OneRow | undefined;
    return row === undefined ? null : { seq, id: toIdText(row[0]), json: row[1], meta: row[2] };
  }

  idAt(log: LogRange, seq: number): string {
    return toIdText(this.#idBytesAt(log, seq));
  }

  /** Null when the log has no such id. */
  seqOfId(log: LogRange, id: string): number | null {
    const wanted = toIdBytes(id);
    if (wanted === null) return null;
    const compareAt = (seq: number): number => Buffer.compare(this.#idBytesAt(log, seq), wanted);
    const from = firstSeqWhere(log, (seq) => compareAt(seq) >= 0);
    const found = firstReadable(log, from, compareAt);
    return found?.value === 0 ? found.seq : null;
  }

  /** The first `seq` whose time is not before the instant; one after the last when there is none. */
  firstSeqAtOrAfter(log: LogRange, timestampMicros: number): number {
    return firstSeqWhere(log, (seq) => {
      const { timestamp } = this.#partOf(log, seq);
      const [micros] = readKnown(log, seq, timestamp) as [number];
      return micros >= timestampMicros;
    });
  }

  #partOf(log: LogRange, seq: number): Part {
    return seq <= log.settledSeq ? this.#settled : this.#recent;
  }

  #idBytesAt(log: LogRange, seq: number): Uint8Array {
    const [bytes] = readKnown(log, seq, this.#partOf(log, seq).id) as [Uint8Array];
    return bytes;
  }
}

type RangeRow = [position: number, id: Uint8Array, json: string];
type OneRow = [id: Uint8Array, json: string, meta: string | null];

function preparePart(database: DatabaseSync, table: "events" | "recent"): Part {
  const prepare = (columns: string, condition: string): StatementSync => {
    const statement = database.prepare(`SELECT ${columns} FROM ${table} WHERE ${condition}`);
    statement.setReturnArrays(true);
    return statement;
  };
  return {
    last: prepare("position", "position BETWEEN ? AND ? ORDER BY position DESC LIMIT 1"),
    range: prepare("position, id, json", "position BETWEEN ? AND ? ORDER BY position"),
    one: prepare("id, json, meta", "position = ?"),
    id: prepare("id", "position = ?"),
    timestamp: prepare("timestamp", "position = ?"),
  };
}

/** All of `[first, last]`. */
export function seqsBetween(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}

/** Names the record when it cannot be read. */
function readRow(log: LogRange, seq: number, statement: StatementSync): unknown {
  try {
    return statement.get(positionOf(log.number, seq));
  } catch (error) {
    if (!isStorageFault(error)) throw error;
    throw new DamagedEventError(log.conversationId, seq, { cause: error });
  }
}

/** The log is gapless, so a hole below its end is damage too. */
function readKnown(log: LogRange, seq: number, statement: StatementSync): unknown {
  const row = readRow(log, seq, statement);
  if (row === undefined) throw new DamagedEventError(log.conversationId, seq);
  return row;
}

/** Halves the log. A damaged event counts as the readable one after it, so that it hides nothing but itself. */
function firstSeqWhere(log: LogRange, isReached: (seq: number) => boolean): number {
  let low = 1;
  let high = log.lastSeq + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (firstReadable(log, middle, isReached)?.value ?? true) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** What `read` gives for the first event from `fromSeq` on that is not damaged; null after the last. */
function firstReadable<Value>(
  log: LogRange,
  fromSeq: number,
  read: (seq: number) => Value,
): { seq: number; value: Value } | null {
  for (let seq = fromSeq; seq <= log.lastSeq; seq += 1) {
    try {
      return { seq, value: read(seq) };
    } catch (error) {
      if (!(error instanceof DamagedEventError)) throw error;
    }
  }
  return null;
}
