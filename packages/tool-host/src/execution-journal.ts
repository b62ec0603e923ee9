import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import type { Outcome } from "./host.ts";
import { LogOnDisk } from "./log-on-disk.ts";
import { PendingMarks } from "./pending-marks.ts";
import { openPrivateSqlite } from "./private-sqlite.ts";

/** State of one execution: started and not ended, or ended with an outcome. */
export type ExecutionRecord =
  | { readonly type: "started" }
  | { readonly type: "ended"; readonly outcome: Outcome };

export type ExecutionJournalOptions = {
  /** Path of the SQLite file; created when absent. */
  readonly path: string;
  /** Maximum number of readable outcomes. Ids are stored for ever, so that nothing runs twice. */
  readonly maxOutcomes?: number;
  /** Maximum bytes of readable outcomes. */
  readonly maxOutcomeBytes?: number;
  /** Null when the machine has no memory file system: then nothing is announced. */
  readonly marks?: PendingMarks | null;
  /** See {@link LogOnDisk}. */
  readonly datasync?: (descriptor: number) => Promise<void>;
  /** Called when an outcome that was written could not be synced: it would not survive a power cut. */
  readonly onUnsafe: (error: unknown) => void;
};

/**
 * The executions of one session on disk. When a method returns, what it has written survives the end of this process. A start is
 * synced to the disk when its promise resolves; an outcome is synced with the next start, or a moment later. Another thread waits
 * for the disk, because the event loop serves other conversations. Only one session may write a file at a time.
 * | An announcement records a start in advance, so that the start does not wait for the disk again. A lost disk or a power cut may
 * have lost the start: so an announcement counts as a start unless its mark in memory exists, which the start removes. An
 * announcement that is not used is withdrawn soon: its call may wait for days, and the machine may reboot meanwhile.
 */
export class ExecutionJournal implements Disposable {
  readonly #database: DatabaseSync;
  readonly #find: StatementSync;
  readonly #announce: StatementSync;
  readonly #takeBack: StatementSync;
  readonly #start: StatementSync;
  readonly #finish: StatementSync;
  readonly #forget: StatementSync;
  readonly #options: Required<Omit<ExecutionJournalOptions, "datasync">>;
  /** Null when the file system does not support a write-ahead log: then SQLite itself waits for the disk. */
  readonly #log: LogOnDisk | null;
  /** Runs from an outcome until that outcome is synced. */
  #settling: NodeJS.Timeout | undefined;
  #outcomesUntilForgetting = forgetEvery;
  /** Marks of calls that have not started yet. */
  readonly #announced = new Map<string, Announcement>();

  constructor(options: ExecutionJournalOptions) {
    const marks = PendingMarks.open();
    this.#options = { maxOutcomes: 1_000, maxOutcomeBytes: 16 * 1024 * 1024, marks, ...options };
    this.#database = openPrivateSqlite(options.path);
    try {
      this.#database.exec(schema);
      addAnnouncements(this.#database);
      this.#find = this.#database.prepare(
        `SELECT ended_at_ms, outcome, iif(started_at_ms IS NULL, announced_in, NULL) AS announced_in
         FROM executions WHERE action_id = ?`,
      );
      this.#announce = this.#database.prepare(
        "INSERT INTO executions (action_id, tool, announced_in) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
      );
      this.#takeBack = this.#database.prepare(
        `DELETE FROM executions
         WHERE action_id = ? AND started_at_ms IS NULL AND ended_at_ms IS NULL AND announced_in = ?`,
      );
      this.#start = this.#database.prepare(
        `INSERT INTO executions (action_id, tool, started_at_ms) VALUES (?, ?, ?)
         ON CONFLICT (action_id) DO UPDATE SET started_at_ms = excluded.started_at_ms
         WHERE started_at_ms IS NULL AND ended_at_ms IS NULL AND announced_in = ?`,
      );
      this.#finish = this.#database.prepare(
        `INSERT INTO executions (action_id, tool, ended_at_ms, outcome) VALUES (?, ?, ?, ?)
         ON CONFLICT (action_id) DO UPDATE SET ended_at_ms = excluded.ended_at_ms, outcome = excluded.outcome
         WHERE ended_at_ms IS NULL AND (started_at_ms IS NULL OR ?)`,
      );
      this.#forget = this.#database.prepare(forgetOutcomes);
      const hasLog = this.#database.prepare("PRAGMA journal_mode").get()?.["journal_mode"] === "wal";
      this.#log = hasLog ? new LogOnDisk(this.#database, options) : null;
      // The file and its log are on the disk, with their directory entries. From here on this class decides when their content is synced.
      if (hasLog) this.#database.exec("PRAGMA synchronous = NORMAL");
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  find(actionId: string): ExecutionRecord | undefined {
    const row = this.#find.get(actionId);
    if (row === undefined) return undefined;
    if (row["ended_at_ms"] === null) return this.#hasMark(row) ? undefined : { type: "started" };
    const outcome = row["outcome"];
    return { type: "ended", outcome: typeof outcome === "string" ? parseOutcome(outcome) : forgotten };
  }

  /**
   * Syncs the record of a start in advance, so that the start itself need not wait for the disk. It starts nothing, and no start
   * has to follow. Without a write-ahead log this call would block the event loop.
   */
  announce(actionId: string, tool: string): void {
    const { marks } = this.#options;
    const mark = this.#log === null ? null : (marks?.make() ?? null);
    if (mark === null) return;
    let isNew = false;
    try {
      isNew = this.#announce.run(actionId, tool, mark).changes === 1;
    } finally {
      if (!isNew) marks?.remove(mark);
    }
    if (!isNew) return;
    const isOnDisk = this.#toDisk().then(
      () => true,
      // The start tries again and reports the failure.
      () => false,
    );
    const overdue = setTimeout(() => this.#forgetAnnounced(actionId), announcedForMs).unref();
    this.#announced.set(actionId, { mark, isOnDisk, overdue });
  }

  /** Records that the tool is about to run. Resolves when a power cut cannot undo that; false when the id is already recorded. */
  async start(actionId: string, tool: string): Promise<boolean> {
    const announced = this.#takeAnnounced(actionId);
    const mark = announced?.mark ?? this.#markOf(actionId);
    if (this.#start.run(actionId, tool, Date.now(), mark).changes !== 1) return false;
    const isMarkGone = mark === null || this.#options.marks?.remove(mark) === true;
    if (!isMarkGone || (await announced?.isOnDisk) !== true) await this.#toDisk();
    return true;
  }

  /**
   * Records the outcome of an execution; the first outcome stays. The caller stores the outcome at once, so this method does not wait
   * for the disk: a power cut before that leaves a call whose outcome is unknown. An execution that was not started here may have
   * been started by another process that owns the conversation now; then that process ends it.
   */
  finish(actionId: string, tool: string, outcome: Outcome, { isStarted = true } = {}): void {
    const announced = this.#takeAnnounced(actionId);
    this.#finish.run(actionId, tool, Date.now(), JSON.stringify(outcome), Number(isStarted));
    if (announced !== undefined) this.#options.marks?.remove(announced.mark);
    this.#settleSoon();
    this.#outcomesUntilForgetting -= 1;
    if (this.#outcomesUntilForgetting > 0) return;
    this.#outcomesUntilForgetting = forgetEvery;
    this.#forget.run(this.#options.maxOutcomes, this.#options.maxOutcomeBytes);
  }

  [Symbol.dispose](): void {
    for (const actionId of this.#announced.keys()) this.#forgetAnnounced(actionId);
    clearTimeout(this.#settling);
    if (this.#database.isOpen) this.#database.close();
  }

  #takeAnnounced(actionId: string): Announcement | undefined {
    const announced = this.#announced.get(actionId);
    this.#announced.delete(actionId);
    clearTimeout(announced?.overdue);
    return announced;
  }

  /** The announcement was not used. If the call starts after all, its start waits for the disk. */
  #forgetAnnounced(actionId: string): void {
    const announced = this.#takeAnnounced(actionId);
    if (announced === undefined) return;
    try {
      this.#takeBack.run(actionId, announced.mark);
      this.#options.marks?.remove(announced.mark);
      this.#settleSoon();
    } catch {
      // The disk refuses writes: the call stays announced, and its mark stays.
    }
  }

  #markOf(actionId: string): string | null {
    const row = this.#find.get(actionId);
    return row !== undefined && this.#hasMark(row) ? row["announced_in"] : null;
  }

  #hasMark(row: Row): row is Row & { readonly announced_in: string } {
    const name = row["announced_in"];
    return typeof name === "string" && this.#options.marks?.has(name) === true;
  }

  #settleSoon(): void {
    this.#settling ??= setTimeout(() => this.#settle(), settleAfterMs).unref();
  }

  #settle(): void {
    this.#toDisk().catch(this.#options.onUnsafe);
  }

  /** Syncs everything written so far to the disk. */
  async #toDisk(): Promise<void> {
    clearTimeout(this.#settling);
    this.#settling = undefined;
    await this.#log?.toDisk();
  }
}

const settleAfterMs = 100;
/** Longer than storing an action takes on most disks. */
const announcedForMs = 1_000;

type Row = Readonly<Record<string, SQLOutputValue>>;

type Announcement = {
  /** In memory, see {@link PendingMarks}. */
  readonly mark: string;
  /** False when the disk refused. */
  readonly isOnDisk: Promise<boolean>;
  readonly overdue: NodeJS.Timeout;
};

const forgetEvery = 64;

const forgotten: Outcome = {
  type: "error",
  text: "This call has ended, but its result is too old to be kept. It was not run again.",
};

/** The partial index makes the search for old outcomes independent of the number of executions. */
const schema = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA journal_size_limit = 4194304;
  PRAGMA cache_size = -256;
  CREATE TABLE IF NOT EXISTS executions (
    sequence INTEGER PRIMARY KEY,
    action_id TEXT NOT NULL UNIQUE,
    tool TEXT NOT NULL,
    started_at_ms INTEGER,
    ended_at_ms INTEGER,
    outcome TEXT,
    announced_in TEXT
  );
  CREATE INDEX IF NOT EXISTS executions_with_outcome ON executions (sequence) WHERE outcome IS NOT NULL;
`;

/** Files of earlier releases lack the column. */
function addAnnouncements(database: DatabaseSync): void {
  const columns = database.prepare("PRAGMA table_info(executions)").all();
  if (columns.some(({ name }) => name === "announced_in")) return;
  database.exec("ALTER TABLE executions ADD COLUMN announced_in TEXT");
}

/** The newest 32 outcomes stay whatever their size: a batch of parallel calls must be readable. */
const forgetOutcomes = `
  UPDATE executions SET outcome = NULL
  WHERE outcome IS NOT NULL AND sequence <= (
    SELECT max(sequence) FROM (
      SELECT sequence,
        row_number() OVER (ORDER BY sequence DESC) AS position,
        sum(octet_length(outcome)) OVER (ORDER BY sequence DESC) AS bytes
      FROM executions WHERE outcome IS NOT NULL
    ) WHERE position > 32 AND (position > ?1 OR bytes > ?2)
  )
`;

/** This class wrote the row, so its shape is trusted. */
function parseOutcome(json: string): Outcome {
  return JSON.parse(json) as Outcome;
}
