import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Outcome } from "./host.ts";
import { openPrivateSqlite } from "./private-sqlite.ts";

/** What the journal knows of one execution: started and not ended, or ended with an outcome. */
export type ExecutionRecord =
  | { readonly type: "started" }
  | { readonly type: "ended"; readonly outcome: Outcome };

export type ExecutionJournalOptions = {
  /** Path of the SQLite file; created when absent. */
  readonly path: string;
  /** How many outcomes stay readable; ids are remembered for ever, so that nothing runs twice. */
  readonly keptOutcomes?: number;
  /** How many bytes of outcomes stay readable. */
  readonly keptOutcomeBytes?: number;
};

/**
 * The executions of one session on disk. Every method returns after its write is on the disk (WAL, synchronous=FULL).
 * Only one session may write a file at a time.
 */
export class ExecutionJournal implements Disposable {
  readonly #database: DatabaseSync;
  readonly #find: StatementSync;
  readonly #start: StatementSync;
  readonly #finish: StatementSync;
  readonly #forget: StatementSync;
  readonly #options: Required<ExecutionJournalOptions>;
  #outcomesUntilForgetting = forgetEvery;

  constructor(options: ExecutionJournalOptions) {
    this.#options = { keptOutcomes: 1_000, keptOutcomeBytes: 16 * 1024 * 1024, ...options };
    this.#database = openPrivateSqlite(options.path);
    try {
      this.#database.exec(schema);
      this.#find = this.#database.prepare("SELECT ended_at_ms, outcome FROM executions WHERE action_id = ?");
      this.#start = this.#database.prepare(
        "INSERT INTO executions (action_id, tool, started_at_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
      );
      this.#finish = this.#database.prepare(
        `INSERT INTO executions (action_id, tool, ended_at_ms, outcome) VALUES (?, ?, ?, ?)
         ON CONFLICT (action_id) DO UPDATE SET ended_at_ms = excluded.ended_at_ms, outcome = excluded.outcome
         WHERE ended_at_ms IS NULL`,
      );
      this.#forget = this.#database.prepare(forgetOutcomes);
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  find(actionId: string): ExecutionRecord | undefined {
    const row = this.#find.get(actionId);
    if (row === undefined) return undefined;
    if (row["ended_at_ms"] === null) return { type: "started" };
    const outcome = row["outcome"];
    return { type: "ended", outcome: typeof outcome === "string" ? parseOutcome(outcome) : forgotten };
  }

  /** Records that the tool is about to run; false when the id is known already. */
  start(actionId: string, tool: string): boolean {
    return this.#start.run(actionId, tool, Date.now()).changes === 1;
  }

  /** Records the outcome of a started execution, or of one that ended without starting. The first outcome stays. */
  finish(actionId: string, tool: string, outcome: Outcome): void {
    this.#finish.run(actionId, tool, Date.now(), JSON.stringify(outcome));
    this.#outcomesUntilForgetting -= 1;
    if (this.#outcomesUntilForgetting > 0) return;
    this.#outcomesUntilForgetting = forgetEvery;
    this.#forget.run(this.#options.keptOutcomes, this.#options.keptOutcomeBytes);
  }

  [Symbol.dispose](): void {
    if (this.#database.isOpen) this.#database.close();
  }
}

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
  CREATE TABLE IF NOT EXISTS executions (
    sequence INTEGER PRIMARY KEY,
    action_id TEXT NOT NULL UNIQUE,
    tool TEXT NOT NULL,
    started_at_ms INTEGER,
    ended_at_ms INTEGER,
    outcome TEXT
  );
  CREATE INDEX IF NOT EXISTS executions_with_outcome ON executions (sequence) WHERE outcome IS NOT NULL;
`;

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
