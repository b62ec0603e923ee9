import type { DatabaseSync, StatementSync } from "node:sqlite";
import { AppendStatements } from "./sqlite-append.ts";
import { BodyIndexer } from "./sqlite-body-indexer.ts";
import { ConversationStatements } from "./sqlite-conversation-writes.ts";
import type { NodeLocks } from "./sqlite-lease.ts";
import { Refusal } from "./refusal.ts";
import type { WriteOutcome, WriteRequest } from "./sqlite-requests.ts";
import { busyTimeoutMs, isBusy } from "./sqlite-schema.ts";
import { Sweeper } from "./sqlite-sweeper.ts";

export type WriterDeps = {
  readonly database: DatabaseSync;
  readonly locks: NodeLocks;
  readonly nodeId: string;
};

/** The only writer of this process: many requests, one transaction, one fsync. Runs in its own thread. */
export class Writer {
  readonly #database: DatabaseSync;
  readonly #appends: AppendStatements;
  readonly #conversations: ConversationStatements;
  readonly #indexer: BodyIndexer;
  readonly #sweeper: Sweeper;
  readonly #locks: NodeLocks;
  readonly #version: StatementSync;
  readonly #logState: StatementSync;

  constructor(deps: WriterDeps) {
    this.#database = deps.database;
    this.#appends = new AppendStatements(deps.database, deps.nodeId);
    this.#conversations = new ConversationStatements(deps);
    this.#indexer = new BodyIndexer(deps.database);
    this.#sweeper = new Sweeper(deps.database);
    this.#locks = deps.locks;
    this.#version = deps.database.prepare("PRAGMA data_version");
    this.#logState = deps.database.prepare("PRAGMA wal_checkpoint(NOOP)");
  }

  /**
   * Outcomes in the order of `requests`, each durable when this returns. A fault of the storage undoes the group, which is
   * then repeated one by one, so that only the requests that cannot be stored fail.
   */
  write(requests: readonly WriteRequest[]): WriteOutcome[] {
    try {
      return this.#commit(requests);
    } catch (error) {
      return requests.length === 1
        ? [toFailure(error)]
        : requests.flatMap((request) => this.write([request]));
    }
  }

  /** One slice of background work, a few milliseconds; true while more is left. Nothing here can fail a request. */
  tidy(): boolean {
    try {
      this.#copyLogBack();
      if (!this.#indexer.isDue && !this.#sweeper.isDue) return false;
      this.#transaction(() => (this.#indexer.isDue ? this.#indexer.indexDue() : this.#sweeper.sweep()));
      return this.#indexer.isDue || this.#sweeper.isDue;
    } catch {
      // A full or failing disk. What is not indexed is scanned, what is not swept stays hidden; the next append tries again.
      return false;
    }
  }

  /** Empties the write-ahead log after a burst; false when another connection is in the way. */
  truncateLog(): boolean {
    try {
      this.#database.exec("PRAGMA busy_timeout = 0");
      return this.#database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()?.["busy"] === 0;
    } catch {
      // The log still has everything; the next pause tries again.
      return false;
    } finally {
      this.#database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    }
  }

  [Symbol.dispose](): void {
    this.#database.close();
    this.#locks[Symbol.dispose]();
  }

  /** Runs between commits, so that no request waits for it inside its own transaction. */
  #copyLogBack(): void {
    const { log, checkpointed } = this.#logState.get() as { log: number; checkpointed: number };
    if (log - checkpointed >= logPagesLimit) this.#database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  }

  #commit(requests: readonly WriteRequest[]): WriteOutcome[] {
    const outcomes = this.#transaction(() => requests.map((request) => this.#applyOrRefuse(request)));
    for (const [stream, characters] of this.#appends.takeTexts()) this.#indexer.onText(stream, characters);
    return outcomes;
  }

  #applyOrRefuse(request: WriteRequest): WriteOutcome {
    try {
      return { ok: true, value: this.#apply(request) };
    } catch (error) {
      if (error instanceof Refusal) return { ok: false, name: error.errorName, message: error.message };
      throw error;
    }
  }

  #apply(request: WriteRequest): boolean | number | null {
    switch (request.type) {
      case "append":
        this.#appends.append(request.lease, request.batch);
        return null;
      case "create":
        return this.#conversations.create(request.row);
      case "claim":
        return this.#conversations.claim(request.conversationId);
      case "release":
        this.#conversations.release(request.lease);
        return null;
      case "delete":
        this.#sweeper.doom(this.#appends.checkLease(request.lease));
        return null;
      case "version":
        return Number(this.#version.get()?.["data_version"]);
    }
  }

  #transaction<Result>(work: () => Result): Result {
    begin(this.#database);
    try {
      const result = work();
      this.#database.exec("COMMIT");
      return result;
    } catch (error) {
      // A full disk may already have ended the transaction.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      this.#appends.forgetGroup();
      throw error;
    }
  }
}

const logPagesLimit = 1000;

/** Waits for other processes as long as SQLite's own time-out lets it, twice: a long checkpoint is no error. */
function begin(database: DatabaseSync): void {
  try {
    database.exec("BEGIN IMMEDIATE");
  } catch (error) {
    if (!isBusy(error)) throw error;
    database.exec("BEGIN IMMEDIATE");
  }
}

function toFailure(error: unknown): WriteOutcome {
  const message = error instanceof Error ? error.message : String(error);
  return { ok: false, name: "JournalWriteError", message: `The journal could not store this: ${message}` };
}
