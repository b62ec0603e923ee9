import type { DatabaseSync, StatementSync } from "node:sqlite";
import { describeError } from "../../lib/describe-error.ts";
import { AppendStatements, type Appended } from "./append.ts";
import type { LogCopier } from "../../database/log-copier.ts";
import { ConversationWriter } from "./conversation-writer.ts";
import type { NodeLocks } from "./lease.ts";
import { Refusal } from "../refusal.ts";
import type { CreateClaimed, WriteOutcome, WriteRequest } from "./requests.ts";
import { isBusy } from "../../database/sqlite-file.ts";
import { busyTimeoutMs, isStorageFault } from "./schema.ts";
import { Settler } from "./settler.ts";
import { Sweeper } from "./sweeper.ts";

export type WriterDeps = {
  readonly database: DatabaseSync;
  readonly locks: NodeLocks;
  readonly copier: LogCopier;
  readonly nodeId: string;
  readonly roundSize: number;
};

/** The only writer of this process: many requests, one transaction, one fsync. Runs in its own thread. */
export class Writer {
  readonly #database: DatabaseSync;
  readonly #appends: AppendStatements;
  readonly #conversations: ConversationWriter;
  readonly #sweeper: Sweeper;
  readonly #settler: Settler;
  readonly #locks: NodeLocks;
  readonly #copier: LogCopier;
  readonly #version: StatementSync;
  readonly #logState: StatementSync;
  #knownVersion: number | undefined;
  /** How long the log was when its last pages were copied; a reader can keep it from beginning again. */
  #endedAtPage = 0;

  constructor(deps: WriterDeps) {
    this.#database = deps.database;
    this.#appends = new AppendStatements(deps.database, deps.nodeId);
    this.#conversations = new ConversationWriter(deps);
    this.#sweeper = new Sweeper(deps.database);
    this.#settler = new Settler(deps.database, deps.roundSize);
    this.#locks = deps.locks;
    this.#copier = deps.copier;
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

  /**
   * Background work after a group: a slice of a few milliseconds, and more only as far as the appends run ahead of it. True
   * while more is left. Nothing here can fail a request.
   */
  tidy(): boolean {
    try {
      this.#copyLogBack();
      do {
        if (!this.#tidySlice()) return false;
      } while (this.#settler.isOverdue);
      return true;
    } catch (error) {
      if (!isStorageFault(error)) throw error;
      // A full or failing disk. What is not settled or swept is read where it is; the next append tries again.
      return false;
    }
  }

  /** Called in a pause: everything is put in its place. */
  startRest(): void {
    this.#settler.settleAll();
    this.#sweeper.shrink();
  }

  /** The pages that it keeps are read again when they are needed. */
  releaseMemory(): void {
    this.#appends.forgetAll();
    this.#database.exec("PRAGMA shrink_memory");
  }

  /** Empties the write-ahead log after a burst; false when another connection is in the way. */
  truncateLog(): boolean {
    try {
      this.#database.exec("PRAGMA busy_timeout = 0");
      return this.#database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()?.["busy"] === 0;
    } catch (error) {
      if (!isStorageFault(error)) throw error;
      // The log still has everything; the next pause tries again.
      return false;
    } finally {
      this.#database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    }
  }

  [Symbol.dispose](): void {
    this.startRest();
    // A short close: the rest stays in the write-ahead log, and the next process continues.
    const deadline = performance.now() + closeLimitMs;
    while (performance.now() < deadline && this.tidy());
    this.#copier[Symbol.dispose]();
    this.#database.close();
    this.#locks[Symbol.dispose]();
  }

  /** Nothing here needs an fsync of its own: what a power cut undoes is done again. */
  #tidySlice(): boolean {
    const work = [this.#settler, this.#sweeper].find(({ isDue }) => isDue);
    if (work === undefined) return false;
    this.#database.exec("PRAGMA synchronous = NORMAL");
    try {
      this.#transaction(() => work.runSlice());
    } catch (error) {
      this.#settler.reset();
      throw error;
    } finally {
      this.#database.exec("PRAGMA synchronous = FULL");
    }
    return true;
  }

  /** What is remembered holds until another process commits. */
  #noticeOthers(): void {
    const version = this.#readVersion();
    if (version !== this.#knownVersion) this.#appends.forgetAll();
    this.#knownVersion = version;
  }

  #readVersion(): number {
    return Number(this.#version.get()?.["data_version"]);
  }

  /**
   * The copier does it beside the commits. It never quite ends while these go on, so the last few pages are copied here: then
   * the log begins again.
   */
  #copyLogBack(): void {
    const { log, checkpointed } = this.#logState.get() as { log: number; checkpointed: number };
    if (log < this.#endedAtPage) this.#endedAtPage = 0;
    if (log - this.#endedAtPage < logPagesLimit) return;
    if (this.#copier.isCopying) return;
    if (log - checkpointed > lastPagesLimit && this.#copier.start()) return;
    this.#database.exec("PRAGMA wal_checkpoint(PASSIVE)");
    this.#endedAtPage = log;
  }

  #commit(requests: readonly WriteRequest[]): WriteOutcome[] {
    const appended: Appended[] = [];
    const outcomes = this.#transaction(() => {
      this.#noticeOthers();
      return requests.map((request) => this.#applyOrRefuse(request, appended));
    });
    for (const { recentCount, recentCharacters } of appended)
      this.#settler.onStaged(recentCount, recentCharacters);
    return outcomes;
  }

  #applyOrRefuse(request: WriteRequest, appended: Appended[]): WriteOutcome {
    try {
      return { ok: true, value: this.#apply(request, appended) };
    } catch (error) {
      if (error instanceof Refusal) {
        const { errorName: name, message, holder } = error;
        return { ok: false, name, message, holder };
      }
      throw error;
    }
  }

  #apply(request: WriteRequest, appended: Appended[]): boolean | number | null {
    switch (request.type) {
      case "append":
        appended.push(this.#appends.append(request.lease, request.batch));
        return null;
      case "create":
        return this.#conversations.create(request.row, false) !== null;
      case "create-claimed":
        return this.#createClaimed(request, appended);
      case "claim":
        this.#appends.forget(request.conversationId);
        return this.#conversations.claim(request.conversationId);
      case "release":
        this.#appends.forget(request.lease.conversationId);
        this.#conversations.release(request.lease);
        return null;
      case "delete":
        this.#sweeper.doom(this.#appends.checkLease(request.lease));
        this.#appends.forget(request.lease.conversationId);
        return null;
      case "mark":
        return this.#conversations.mark(request.id, request.marks);
      case "version":
        return this.#readVersion();
    }
  }

  /**
   * What the first events change of the row is in it from the start. They are checked before anything is written: a savepoint would copy every
   * page into a file of its own.
   */
  #createClaimed({ row, first }: CreateClaimed, appended: Appended[]): number | null {
    if (first === null) return this.#conversations.create(row, true);
    const { conversation, ...batch } = first;
    this.#appends.checkFirst(row.id, batch);
    const generation = this.#conversations.create({ ...row, ...conversation }, true);
    if (generation === null) return null;
    this.#appends.begin(row.id, generation);
    appended.push(this.#appends.append({ conversationId: row.id, generation }, batch));
    return generation;
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
      this.#appends.forgetAll();
      throw error;
    }
  }
}

const closeLimitMs = 200;
/** Of 16 KiB. */
const logPagesLimit = 2000;
const lastPagesLimit = 200;

/** Waits for other processes as long as SQLite's own time-out lets it, twice: a long checkpoint is no error. */
function begin(database: DatabaseSync): void {
  try {
    database.exec("BEGIN IMMEDIATE");
  } catch (error) {
    if (!isBusy(error)) throw error;
    database.exec("BEGIN IMMEDIATE");
  }
}

const sqliteCorrupt = 11;

function toFailure(error: unknown): WriteOutcome {
  const message = describeError(error);
  return {
    ok: false,
    name: "JournalWriteError",
    message: `The journal could not store this: ${message}`,
    errcode: isStorageFault(error) ? (error.errcode ?? sqliteCorrupt) : undefined,
  };
}
