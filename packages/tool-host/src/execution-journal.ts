import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import type { Outcome } from "./host.ts";
import { LogOnDisk } from "./log-on-disk.ts";
import { PendingMarks } from "./pending-marks.ts";
import { openPrivateSqlite } from "./private-sqlite.ts";

/** What the journal knows of one execution: started and not ended, or ended with an outcome. */
export type ExecutionRecord =
  | { readonly type: "started" }
  | { readonly type: "ended"; readonly outcome: Outcome };

export type ExecutionJournalOptions = {
  /** Path of the SQLite file; created when absent. */
  readonly path: string;
  /** How many outcomes stay readable; ids are remembered for ever, so that nothing runs twice. */
  readonly maxOutcomes?: number;
  /** How many bytes of outcomes stay readable. */
  readonly maxOutcomeBytes?: number;
  /** Null where the machine has no memory for them: then nothing is announced. */
  readonly marks?: PendingMarks | null;
  /** See {@link LogOnDisk}. */
  readonly datasync?: (descriptor: number) => Promise<void>;
  /** Told when the disk does not take an outcome that was written: it would not survive a power cut. */
  readonly onUnsafe: (error: unknown) => void;
};

/**
 * The executions of one session on disk. What a method has written survives the end of this process when it returns; a start is on the
 * disk when its promise resolves, an outcome with the next start, and a moment later without one. Another thread waits for the disk:
 * the loop has other conversations. Only one session may write a file at a time.
 *
 * An announcement is that record before its time, and the start does not wait for the disk again. So a disk that went away, or a power cut,
 * may have taken the start with it: an announcement counts as a start unless its mark in memory is there, which the start removes. One that
 * nothing comes of is taken back soon: its call may wait for days, and the machine start anew meanwhile.
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
  /** Null where the file system can have no log beside the file: then SQLite waits for the disk itself. */
  readonly #log: LogOnDisk | null;
  /** Runs from an outcome on until it is on the disk. */
  #settling: NodeJS.Timeout | undefined;
  #outcomesUntilForgetting = forgetEvery;
  /** Of calls that did not start yet. */
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
      // The file and its log are on the disk, with their names; from here on this class says when what is in them has to be.
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
   * Has the disk take the record of a start that is to come, so that the start itself need not wait for it. Nothing begins by that, and
   * nothing has to. A file system without a log would have the loop wait here instead.
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
      // The start tries again, and tells of it.
      () => false,
    );
    const overdue = setTimeout(() => this.#forgetAnnounced(actionId), announcedForMs).unref();
    this.#announced.set(actionId, { mark, isOnDisk, overdue });
  }

  /** Records that the tool is about to run, and resolves when a power cut cannot undo that; false when the id is known already. */
  async start(actionId: string, tool: string): Promise<boolean> {
    const announced = this.#takeAnnounced(actionId);
    const mark = announced?.mark ?? this.#markOf(actionId);
    if (this.#start.run(actionId, tool, Date.now(), mark).changes !== 1) return false;
    const isMarkGone = mark === null || this.#options.marks?.remove(mark) === true;
    if (!isMarkGone || (await announced?.isOnDisk) !== true) await this.#toDisk();
    return true;
  }

  /**
   * Records the outcome of an execution. The first outcome stays. Whoever gets it stores it at once, so the wait for the disk is left to
   * that: a power cut before it leaves a call whose outcome is unknown. What was not started here another process may have started, which
   * has the conversation by now: that one ends it.
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

  /** Nothing came of it until now: should the call begin after all, its start waits for the disk. */
  #forgetAnnounced(actionId: string): void {
    const announced = this.#takeAnnounced(actionId);
    if (announced === undefined) return;
    try {
      this.#takeBack.run(actionId, announced.mark);
      this.#options.marks?.remove(announced.mark);
      this.#settleSoon();
    } catch {
      // A disk that takes nothing: it stays announced, and so does its mark.
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

  /** Brings everything that was written before to the disk. */
  async #toDisk(): Promise<void> {
    clearTimeout(this.#settling);
    this.#settling = undefined;
    await this.#log?.toDisk();
  }
}

const settleAfterMs = 100;
/** Longer than an action takes to be stored on most disks. */
const announcedForMs = 1_000;

type Row = Readonly<Record<string, SQLOutputValue>>;

type Announcement = {
  /** In memory, see {@link PendingMarks}. */
  readonly mark: string;
  /** False where the disk did not take it. */
  readonly isOnDisk: Promise<boolean>;
  readonly overdue: NodeJS.Timeout;
};

const forgetEvery = 64;

const forgotten: Outcome = {
  type: "error",
  text: "This call has ended, but its result is too old to be kept. It was not run again.",
};

/** The partial index keeps the search for old outcomes independent of how many executions a session ever had. */
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

/** A file of a release that did not know of them has no column for them. */
function addAnnouncements(database: DatabaseSync): void {
  const columns = database.prepare("PRAGMA table_info(executions)").all();
  if (columns.some(({ name }) => name === "announced_in")) return;
  database.exec("ALTER TABLE executions ADD COLUMN announced_in TEXT");
}

/** Keeps at least the newest 32 outcomes whatever their size: a batch of parallel calls must stay readable. */
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

/** The row was written by this class, so its shape needs no second check. */
function parseOutcome(json: string): Outcome {
  return JSON.parse(json) as Outcome;
}
