import { DatabaseSync } from "node:sqlite";
import { syncFully } from "@convoke/tool-host/sync-fully";
import { isForeignNumber } from "../../lib/storage-fault.ts";
import { waysBack } from "../../lib/ways-back.ts";
import { enterWalMode } from "../../database/sqlite-file.ts";

/** The code of the error for a journal that this version cannot work on. */
export const refusedFormat = "refused_format";

export type JournalSchema = {
  /** The version that the first step reaches. Lower ones were never released, and are refused. */
  readonly firstVersion: number;
  /** One a version; an older build refuses a newer version. */
  readonly steps: readonly string[];
};

const applicationId = 0x43_6f_6e_76;
/** How long a connection waits for another one's lock. */
export const busyTimeoutMs = 30_000;
const cacheKibibytes = 16 * 1024;
/**
 * The write-ahead log keeps its length when it begins again: on a file that shrinks and grows, most file systems store the
 * new length with each commit, which takes tens of milliseconds. A pause after a burst empties it.
 */
const logBytesLimit = 64 * 1024 * 1024;
const seqsPerConversation = 2 ** 28;

/** The largest `seq` one conversation can hold. */
export const maxSeq = seqsPerConversation - 1;

/**
 * The key of an event: its conversation's number above its `seq`, so that one conversation is one contiguous range.
 * Stays below 2^53 for 33 million conversations.
 */
export function positionOf(conversationNumber: number, seq: number): number {
  return conversationNumber * seqsPerConversation + seq;
}

export function conversationNumberOf(position: number): number {
  return Math.floor(position / seqsPerConversation);
}

/** Numbers the events of one class in one conversation; class codes are below 256. */
export function streamOf(conversationNumber: number, classCode: number): number {
  return conversationNumber * 256 + classCode;
}

/** Creates or checks the tables and returns the only connection of this process that writes. */
export function openWriterDatabase(path: string, schema = journalSchema): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
  try {
    database.exec("PRAGMA page_size = 16384; PRAGMA auto_vacuum = INCREMENTAL");
    enterWalMode(database, busyTimeoutMs);
    // The writer checkpoints by itself, in the pauses between commits.
    database.exec("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0");
    syncFully(database);
    database.exec(`PRAGMA cache_size = -${cacheKibibytes}; PRAGMA journal_size_limit = ${logBytesLimit}`);
    migrate(database, path, schema);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** A connection that only reads; the writer must have opened the file before. */
export function openReaderDatabase(path: string, kibibytes = cacheKibibytes): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs });
  try {
    database.exec(`PRAGMA cache_size = -${kibibytes}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** SQLITE_CORRUPT: what SQLite says of a page that it can tell is damaged. */
const corrupt = 11;

/** The last event of a log is gone or cannot be read. */
export class MissingEnd extends Error {
  override readonly name = "MissingEnd";
  readonly errcode = corrupt;

  constructor(seq: number) {
    super(`event ${seq}, the last one of its log, is damaged`);
  }
}

/** A row that SQLite gives although it was asked for others: its page is damaged. */
export class OutOfPlace extends Error {
  override readonly name = "OutOfPlace";
  readonly errcode = corrupt;

  constructor(position: number) {
    super(`a row is at ${position}, where others were asked for`);
  }
}

/** Rows as they come, as long as each follows the one before and is within the bounds. */
export function* inPlace<Row extends readonly [number, ...unknown[]]>(
  rows: Iterable<Row>,
  [from, to]: readonly [number, number],
  isDescending: boolean,
): Generator<Row> {
  let last = isDescending ? to + 1 : from - 1;
  for (const row of rows) {
    const [position] = row;
    const isNext = isDescending ? position < last : position > last;
    if (!isNext || position < from || position > to) throw new OutOfPlace(position);
    last = position;
    yield row;
  }
}

/** True for an error of SQLite, not of our code; also for a number in a damaged row that none of ours can be. */
export function isStorageFault(error: unknown): error is Error & { readonly errcode?: number } {
  return error instanceof Error && ("errcode" in error || isForeignNumber(error));
}

/** What `otherwise` gives where the read meets damage. */
export function unlessDamaged<Result>(read: () => Result, otherwise: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!isStorageFault(error)) throw error;
    return otherwise();
  }
}

function migrate(database: DatabaseSync, path: string, schema: JournalSchema): void {
  const { firstVersion, steps } = schema;
  const target = versionOf(schema);
  const found = pragmaNumber(database, "user_version");
  if (found === target) return;
  if (found > target || isUnreleased(found, schema))
    throw Object.assign(new Error(formatProblem(path, found, schema)!), { code: refusedFormat });
  database.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have created the tables while this one waited.
    const version = pragmaNumber(database, "user_version");
    for (const step of steps.slice(Math.max(0, version - firstVersion + 1))) database.exec(step);
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${target}`);
    database.exec("COMMIT");
  } catch (error) {
    // A full disk has ended it already.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** Why this version does not read a journal of this format, and what to do; null for its own one. */
export function formatProblem(path: string, found: number, schema = journalSchema): string | null {
  const target = versionOf(schema);
  if (found === target) return null;
  const what = `The journal ${path} has format ${found}`;
  if (found > target) return `${what}, this version reads up to ${target}: ${waysBack}.`;
  return isUnreleased(found, schema)
    ? `${what} of a development version from before the first release: name another data folder, or use the version that made it.`
    : `${what} of an older release, this version reads ${target}: start a server of this version on it once.`;
}

/** Whether a newer version made a journal of this format. */
export function isOfLaterFormat(found: number): boolean {
  return found > versionOf(journalSchema);
}

/** 0 is a file without tables. */
function isUnreleased(found: number, { firstVersion }: JournalSchema): boolean {
  return found > 0 && found < firstVersion;
}

function versionOf({ firstVersion, steps }: JournalSchema): number {
  return firstVersion + steps.length - 1;
}

function pragmaNumber(database: DatabaseSync, name: string): number {
  return Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
}

const ifValid = (config: string, value: string): string =>
  `CASE WHEN json_valid(${config}) THEN ${config} ${value} END`;
const copyFromConfig = `
  working_dir = ${ifValid("new.config", "->> '$.workspace.working_dir'")},
  tags = ${ifValid("new.config", "-> '$.tags'")}`;

/*
 * The tables of the first release.
 * conversations keeps what changes often in short rows; conversation_documents keeps the long texts.
 * What lists for people filter by stands in conversations: the folder and the tags are copies out of the configuration, made by triggers.
 * The widest index has all that a filter asks for, so that a filter reads no row; is_archived stands before the time because what is
 * archived is hardly ever listed.
 * classes numbers each (kind, source) pair: every kind and source filter is a merge of a few class ranges.
 * events has each conversation's log in one range; recent has the newest events of all logs in the order they arrived, until
 * the settler moves them: an append then writes one page, not one for each conversation and index. A log is its events in
 * events, then those in recent that are above them.
 * text says where the searchable text is: NULL none, an integer a span of json, a text a JSON string literal.
 * doomed: deleted conversations whose events are still being removed.
 */
const tables = `
CREATE TABLE conversations (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  owner_id TEXT NOT NULL,
  execution_status TEXT NOT NULL,
  is_active INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  title TEXT,
  generation INTEGER NOT NULL DEFAULT 0,
  node_id TEXT,
  sandbox_id TEXT,
  parent_id TEXT,
  host TEXT,
  app_facts TEXT,
  app_parent_id TEXT,
  is_copying INTEGER NOT NULL DEFAULT 0,
  working_dir TEXT,
  tags TEXT,
  is_archived INTEGER NOT NULL DEFAULT 0,
  is_pinned INTEGER NOT NULL DEFAULT 0,
  read_event_id TEXT
) STRICT;
CREATE INDEX conversations_owner_created ON conversations (owner_id, execution_status, created_at);
CREATE INDEX conversations_owner_updated ON conversations (owner_id, execution_status, updated_at);
CREATE INDEX conversations_created ON conversations (execution_status, created_at);
CREATE INDEX conversations_updated ON conversations (execution_status, updated_at);
CREATE INDEX conversations_active ON conversations (is_active) WHERE is_active = 1;
CREATE INDEX conversations_sandbox_created ON conversations (owner_id, sandbox_id, execution_status, created_at)
  WHERE sandbox_id IS NOT NULL;
CREATE INDEX conversations_sandbox_updated ON conversations (owner_id, sandbox_id, execution_status, updated_at)
  WHERE sandbox_id IS NOT NULL;
CREATE INDEX conversations_app ON conversations (owner_id, created_at, number, sandbox_id, app_parent_id)
  WHERE app_facts IS NOT NULL;
CREATE INDEX conversations_app_parent ON conversations (owner_id, app_parent_id, created_at)
  WHERE app_facts IS NOT NULL AND app_parent_id IS NOT NULL;
CREATE INDEX conversations_copying ON conversations (owner_id) WHERE is_copying = 1;
CREATE INDEX conversations_glance ON conversations (
  owner_id, is_archived, updated_at, number, execution_status, is_copying, is_pinned, parent_id, working_dir, title, tags
);
CREATE INDEX conversations_parent ON conversations (parent_id, updated_at) WHERE parent_id IS NOT NULL;
CREATE INDEX conversations_pinned ON conversations (owner_id, updated_at) WHERE is_pinned = 1;

CREATE TABLE conversation_documents (
  number INTEGER PRIMARY KEY,
  config TEXT NOT NULL,
  sealed_secrets TEXT,
  snapshot TEXT,
  snapshot_seq INTEGER NOT NULL
) STRICT;
CREATE TRIGGER conversation_config_inserted AFTER INSERT ON conversation_documents BEGIN
  UPDATE conversations SET ${copyFromConfig} WHERE number = new.number;
END;
CREATE TRIGGER conversation_config_updated AFTER UPDATE OF config ON conversation_documents BEGIN
  UPDATE conversations SET ${copyFromConfig} WHERE number = new.number;
END;

CREATE TABLE inbox (
  number INTEGER NOT NULL,
  client_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  digest TEXT NOT NULL,
  PRIMARY KEY (number, client_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE classes (
  code INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  source TEXT NOT NULL,
  has_text INTEGER NOT NULL,
  UNIQUE (kind, source)
) STRICT;

CREATE TABLE events (
  position INTEGER PRIMARY KEY,
  id BLOB NOT NULL,
  timestamp INTEGER NOT NULL,
  class INTEGER NOT NULL,
  json TEXT NOT NULL,
  text ANY,
  meta TEXT,
  checksum INTEGER
) STRICT;
CREATE INDEX events_by_class ON events (class);

CREATE TABLE recent (
  arrival INTEGER PRIMARY KEY,
  position INTEGER NOT NULL,
  id BLOB NOT NULL,
  timestamp INTEGER NOT NULL,
  class INTEGER NOT NULL,
  json TEXT NOT NULL,
  text ANY,
  meta TEXT,
  checksum INTEGER
) STRICT;
CREATE INDEX recent_by_position ON recent (position, class);

CREATE TABLE doomed (number INTEGER PRIMARY KEY) STRICT;
`;

/** Version 4 is that of the first release. */
export const journalSchema: JournalSchema = { firstVersion: 4, steps: [tables] };
