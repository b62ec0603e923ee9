import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { LogHead } from "../journal.ts";
import { isStorageFault, maxSeq, positionOf } from "./schema.ts";

/** One conversation's log as it was when it was looked up. */
export type LogRange = {
  readonly conversationId: string;
  readonly number: number;
  readonly lastSeq: number;
  /** The events up to here are in their place and stay there; those above are where they arrived. */
  readonly settledSeq: number;
};

/** Knows whose a log is and how far it has come. */
export class LogEnds {
  readonly #snapshot: Snapshot;
  readonly #version: StatementSync;
  readonly #log: StatementSync;
  readonly #row: StatementSync;
  readonly #classes: StatementSync;
  readonly #settled: Ends;
  readonly #recent: Ends;
  readonly #heads = new Map<string, LogHead>();
  #headsVersion = -1;

  constructor(database: DatabaseSync, snapshot: Snapshot) {
    const prepare = (sql: string): StatementSync => {
      const statement = database.prepare(sql);
      statement.setReturnArrays(true);
      return statement;
    };
    this.#snapshot = snapshot;
    this.#version = prepare("PRAGMA data_version");
    const row = "number, iif(is_copying, NULL, owner_id)";
    this.#row = prepare(`SELECT ${row} FROM conversations WHERE id = ?`);
    const ends = (["events", "recent"] as const).map(lastOfRowSql);
    this.#log = prepare(`SELECT ${[row, ...ends].join()} FROM conversations WHERE id = ?`);
    this.#classes = prepare("SELECT code FROM classes");
    const last = "position BETWEEN ? AND ? ORDER BY position DESC LIMIT 1";
    const endsOf = (table: string, index: string): Ends => ({
      last: prepare(`SELECT position FROM ${table} WHERE ${last}`),
      lastOfClass: prepare(`SELECT position FROM ${table} INDEXED BY ${index} WHERE class = ? AND ${last}`),
    });
    this.#settled = endsOf("events", "events_by_class");
    this.#recent = endsOf("recent", "recent_by_position");
  }

  /** Null when there is no such conversation; inside the caller's snapshot. */
  open(conversationId: string): LogRange | null {
    return this.#open(conversationId, (read) => read())?.range ?? null;
  }

  /** The same, of one state without a snapshot around it; looked up anew after each commit of any process. */
  head(conversationId: string): LogHead | null {
    const [version] = this.#version.get() as unknown as [number];
    if (version !== this.#headsVersion || this.#heads.size >= mostHeads) this.#heads.clear();
    this.#headsVersion = version;
    const known = this.#heads.get(conversationId);
    if (known !== undefined) return known;
    const log = this.#open(conversationId, this.#snapshot);
    if (log === null) return null;
    const head = { log: log.range.number, lastSeq: log.range.lastSeq, ownerId: log.ownerId };
    // A commit behind the look at the version is in it, and clears it the next time.
    this.#heads.set(conversationId, head);
    return head;
  }

  /** Forgets what only makes the next looks faster. */
  releaseMemory(): void {
    this.#heads.clear();
  }

  /** One statement; several where the end of the log is on a damaged page. */
  #open(conversationId: string, snapshot: Snapshot): OpenedLog | null {
    try {
      const row = this.#log.get(conversationId) as unknown as LogRow | undefined;
      if (row === undefined) return null;
      const [number, ownerId, settled, recent] = row;
      const base = positionOf(number, 0);
      return toLog(conversationId, [number, ownerId], (settled ?? base) - base, (recent ?? base) - base);
    } catch (error) {
      if (!isStorageFault(error)) throw error;
      return snapshot(() => this.#openDamaged(conversationId));
    }
  }

  #openDamaged(conversationId: string): OpenedLog | null {
    const row = this.#row.get(conversationId) as unknown as OwnedRow | undefined;
    if (row === undefined) return null;
    const base = positionOf(row[0], 0);
    return toLog(
      conversationId,
      row,
      this.#lastSeqOf(this.#settled, base),
      this.#lastSeqOf(this.#recent, base),
    );
  }

  #lastSeqOf(ends: Ends, base: number): number {
    const seqOf = (row: unknown): number => ((row as [number] | undefined)?.[0] ?? base) - base;
    try {
      return seqOf(ends.last.get(base + 1, base + maxSeq));
    } catch (error) {
      if (!isStorageFault(error)) throw error;
      // The end of the log is on a damaged page; the index knows where it is.
      const codes = (this.#classes.all() as unknown as [number][]).map(([code]) => code);
      return Math.max(0, ...codes.map((code) => seqOf(ends.lastOfClass.get(code, base + 1, base + maxSeq))));
    }
  }
}

type Snapshot = <Result>(read: () => Result) => Result;

/** How the last event of a part of a log is found. */
type Ends = {
  readonly last: StatementSync;
  /** Without touching the events themselves. */
  readonly lastOfClass: StatementSync;
};

type OpenedLog = { readonly range: LogRange; readonly ownerId: string | null };
type OwnedRow = [number: number, ownerId: string | null];
type LogRow = [...OwnedRow, settled: number | null, recent: number | null];

const mostHeads = 1_000;

function toLog(
  conversationId: string,
  [number, ownerId]: OwnedRow,
  settledSeq: number,
  recentSeq: number,
): OpenedLog {
  const range = { conversationId, number, settledSeq, lastSeq: Math.max(settledSeq, recentSeq) };
  return { range, ownerId };
}

/** Where the log of a row of conversations ends; the sums are those of {@link positionOf}. */
function lastOfRowSql(table: "events" | "recent"): string {
  const base = `number * ${maxSeq + 1}`;
  return `(SELECT position FROM ${table} WHERE position BETWEEN ${base} + 1 AND ${base} + ${maxSeq}
    ORDER BY position DESC LIMIT 1)`;
}
