import type { DatabaseSync, StatementSync } from "node:sqlite";
import { isJsonIntact } from "../checksum.ts";
import type { LogHead } from "../journal.ts";
import { isStorageFault, maxSeq, positionOf, unlessDamaged } from "./schema.ts";

/** One conversation's log at the time of the lookup. */
export type LogRange = {
  readonly conversationId: string;
  readonly number: number;
  readonly lastSeq: number;
  /** The events up to here are in their place and stay there; those above are where they arrived. */
  readonly settledSeq: number;
};

/**
 * Knows whose a log is and how far it has come. A damaged page may hold any number as a position, and reads are as long as the log says it
 * is: an end that does not follow the event before it counts only where its checksum says that it was written there.
 */
export class LogEnds {
  readonly #snapshot: Snapshot;
  readonly #version: StatementSync;
  readonly #log: StatementSync;
  readonly #row: StatementSync;
  readonly #snapshotSeq: StatementSync;
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
    const row = `number, iif(is_copying, NULL, owner_id), iif(is_copying, 0,
      (SELECT snapshot_seq FROM conversation_documents d WHERE d.number = conversations.number))`;
    this.#row = prepare("SELECT number, iif(is_copying, NULL, owner_id) FROM conversations WHERE id = ?");
    this.#snapshotSeq = prepare(
      `SELECT snapshot_seq FROM conversation_documents d JOIN conversations c USING (number)
       WHERE c.id = ? AND c.is_copying = 0`,
    );
    const ends = (["events", "recent"] as const).flatMap((table) => [
      lastOfRowSql(table, 0),
      lastOfRowSql(table, 1),
    ]);
    this.#log = prepare(`SELECT ${[row, ...ends].join()} FROM conversations WHERE id = ?`);
    this.#classes = prepare("SELECT code FROM classes");
    const last = "position BETWEEN ? AND ? ORDER BY position DESC LIMIT 1";
    const endsOf = (table: string, index: string): Ends => ({
      last: prepare(`SELECT position, json, checksum FROM ${table} WHERE ${last}`),
      lastOfClass: prepare(`SELECT position FROM ${table} INDEXED BY ${index} WHERE class = ? AND ${last}`),
    });
    this.#settled = endsOf("events", "events_by_class");
    this.#recent = endsOf("recent", "recent_by_position");
  }

  /** Null when there is no such conversation; inside the caller's snapshot. */
  open(conversationId: string): LogRange | null {
    return this.#open(conversationId, (read) => read())?.range ?? null;
  }

  /** The same, of one state without a snapshot around it; looked up again after each commit of any process. */
  head(conversationId: string): LogHead | null {
    const [version] = this.#version.get() as unknown as [number];
    if (version !== this.#headsVersion || this.#heads.size >= maxHeads) this.#heads.clear();
    this.#headsVersion = version;
    const known = this.#heads.get(conversationId);
    if (known !== undefined) return known;
    const log = this.#open(conversationId, this.#snapshot);
    if (log === null) return null;
    const head = { log: log.range.number, lastSeq: log.range.lastSeq, ownerId: log.ownerId };
    // A commit after the read of the version is included, and clears the cache the next time.
    this.#heads.set(conversationId, head);
    return head;
  }

  /** Drops caches. */
  releaseMemory(): void {
    this.#heads.clear();
  }

  /** One statement; several where something is damaged. */
  #open(conversationId: string, snapshot: Snapshot): OpenedLog | null {
    try {
      const row = this.#log.get(conversationId) as unknown as LogRow | undefined;
      if (row === undefined) return null;
      const [number, ownerId, snapshotSeq, settled, beforeSettled, recent, beforeRecent] = row;
      const base = positionOf(number, 0);
      const settledSeq = (settled ?? base) - base;
      const recentSeq = (recent ?? base) - base;
      const isSound =
        Math.max(settledSeq, recentSeq) <= maxSeq &&
        (settledSeq === 0 || settled === (beforeSettled ?? base) + 1) &&
        (recentSeq <= settledSeq || recent === (beforeRecent ?? settled ?? base) + 1) &&
        (snapshotSeq === null || isSeq(snapshotSeq)) &&
        (snapshotSeq ?? 0) <= Math.max(settledSeq, recentSeq);
      if (isSound) return toLog(conversationId, [number, ownerId], settledSeq, recentSeq);
    } catch (error) {
      if (!isStorageFault(error)) throw error;
    }
    return snapshot(() => this.#openDamaged(conversationId));
  }

  #openDamaged(conversationId: string): OpenedLog | null {
    const row = this.#row.get(conversationId) as unknown as OwnedRow | undefined;
    if (row === undefined) return null;
    const base = positionOf(row[0], 0);
    const settledSeq = this.#lastSeqOf(this.#settled, base);
    const recentSeq = this.#lastSeqOf(this.#recent, base);
    const found = Math.max(settledSeq, recentSeq);
    // The row proves that there were more. Its number may be damaged as well, so it does not count for everything.
    const provenSeq = Math.min(this.#provenSeq(conversationId), found + maxMissing);
    return toLog(conversationId, row, settledSeq, Math.max(recentSeq, provenSeq));
  }

  #provenSeq(conversationId: string): number {
    // A damaged row may hold anything in the place of its numbers; one that cannot be read proves nothing.
    const row = unlessDamaged<unknown>(
      () => this.#snapshotSeq.get(conversationId),
      () => undefined,
    );
    const [seq] = (row ?? []) as [unknown?];
    return isSeq(seq) ? seq : 0;
  }

  /** The last event that is what was written at its place; a later one where the index knows of it. */
  #lastSeqOf(ends: Ends, base: number): number {
    const indexed = this.#lastSeqInIndex(ends, base);
    const found = this.#lastIntactSeq(ends, base);
    return indexed - found <= maxMissing ? Math.max(indexed, found) : found;
  }

  #lastIntactSeq(ends: Ends, base: number): number {
    let to = maxSeq;
    try {
      for (let steps = 0; steps < maxSteps; steps += 1) {
        const [position, json, checksum] = (ends.last.get(base + 1, base + to) ?? [
          base,
        ]) as unknown as EndRow;
        const seq = position - base;
        if (seq < 1 || seq > to) return 0;
        if (isJsonIntact(position, json, checksum)) return seq;
        to = seq - 1;
      }
    } catch (error) {
      if (!isStorageFault(error)) throw error;
      // The end of the log is on a damaged page; the index knows where it is.
    }
    return 0;
  }

  /** 0 where the index is damaged too. */
  #lastSeqInIndex(ends: Ends, base: number): number {
    const read = (): number => {
      const seqs = (this.#classes.all() as unknown as [number][]).map(([code]) => {
        const row = ends.lastOfClass.get(code, base + 1, base + maxSeq) as unknown as [number] | undefined;
        return (row?.[0] ?? base) - base;
      });
      return Math.max(0, ...seqs.filter((seq) => seq <= maxSeq));
    };
    return unlessDamaged(read, () => 0);
  }
}

function isSeq(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
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
type LogRow = [
  ...OwnedRow,
  snapshotSeq: number | null,
  settled: number | null,
  beforeSettled: number | null,
  recent: number | null,
  beforeRecent: number | null,
];
type EndRow = [position: number, json?: unknown, checksum?: unknown];

/** A damaged page holds fewer events than this, if they are not tiny. */
const maxSteps = 256;
/** Maximum number of events that are shown as damaged because only the row says that they existed. */
const maxMissing = 10_000;

const maxHeads = 1_000;

function toLog(
  conversationId: string,
  [number, ownerId]: OwnedRow,
  settledSeq: number,
  recentSeq: number,
): OpenedLog {
  const range = { conversationId, number, settledSeq, lastSeq: Math.max(settledSeq, recentSeq) };
  return { range, ownerId };
}

/** Where the log of a row of conversations ends, or the event before that; the sums are those of {@link positionOf}. */
function lastOfRowSql(table: "events" | "recent", before: 0 | 1): string {
  const base = `number * ${maxSeq + 1}`;
  return `(SELECT position FROM ${table} WHERE position BETWEEN ${base} + 1 AND ${base} + ${maxSeq}
    ORDER BY position DESC LIMIT 1 OFFSET ${before})`;
}
