import { createHash } from "node:crypto";
import { closeSync, openSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { enterWalMode } from "../../../database/sqlite-file.ts";
import { busyTimeoutMs, streamOf } from "../schema.ts";
import { DamagedBlock } from "./block.ts";

/*
 * The index of all texts, in a file of its own: everything in it is made of the journal and can be made again, so that it is
 * neither backed up nor migrated, and no append waits for it.
 * logs says how far each conversation has been read. A block is events of one conversation, in its order: consecutive messages of one
 * class, or what is no message (class 0). packs has their texts, words their grams. The id of a block is the time of its last event in ticks,
 * or the next one that is free above the block of its class before it; drift says how far that has led at most. A block reaches back for an
 * hour at most, so that what was before an instant is in no block that ends much later.
 */

/** Beside the journal. */
export const textsFile = "texts.db";

/** Another number is another format: the file is made again. */
const format = 2;

/** Small numbers make the index small; there can be as many blocks a second as ticks. */
export const tickMicros = 10_000;

/** The first tick that is not before the instant. */
export function tickOf(micros: number): number {
  return Math.ceil(micros / tickMicros);
}

const tables = `
CREATE TABLE logs (
  number INTEGER PRIMARY KEY,
  conversation_id TEXT NOT NULL,
  read_seq INTEGER NOT NULL,
  read_id TEXT NOT NULL
) STRICT;
CREATE INDEX logs_by_conversation ON logs (conversation_id);
CREATE TABLE blocks (
  id INTEGER PRIMARY KEY,
  number INTEGER NOT NULL,
  class INTEGER NOT NULL,
  first_seq INTEGER NOT NULL,
  first_at INTEGER NOT NULL
) STRICT;
CREATE INDEX blocks_by_log ON blocks (number, class, first_seq);
CREATE TABLE packs (id INTEGER PRIMARY KEY, entries ANY NOT NULL) STRICT;
CREATE TABLE drift (ticks INTEGER NOT NULL) STRICT;
INSERT INTO drift VALUES (0);
CREATE VIRTUAL TABLE words USING fts5 (
  grams, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);
INSERT INTO words (words, rank) VALUES ('pgsz', 1000);
INSERT INTO words (words, rank) VALUES ('automerge', 4);
`;

/** The only connection of this process that writes. What is of another format, or damaged, is thrown away. */
export function openTextsWriter(path: string): DatabaseSync {
  try {
    const database = openWriter(path);
    if (formatOf(database) === format) return database;
    database.close();
  } catch (error) {
    if (!isBroken(error)) throw error;
  }
  removeTexts(path);
  return openWriter(path);
}

/** Null when there is no index yet, or one that {@link openTextsWriter} will throw away. */
export function openTextsReader(path: string): DatabaseSync | null {
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs });
    if (formatOf(database) === format) return database;
  } catch (error) {
    const isMissing = error instanceof Error && "errcode" in error && error.errcode === sqliteCannotOpen;
    if (!isMissing && !isBroken(error)) throw error;
  }
  database?.close();
  return null;
}

const sqliteCannotOpen = 14;

/** Open readers keep the old content. */
export function removeTexts(path: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
}

/** True for an index that has to be made again, of what is wrong with the file or with a block in it. */
export function isDamagedIndex(error: unknown): boolean {
  return isBroken(error) || error instanceof DamagedBlock;
}

/** True for a file that SQLite finds damaged. */
export function isBroken(error: unknown): boolean {
  const code = error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : 0;
  return code === 11 || code === 26;
}

function openWriter(path: string): DatabaseSync {
  closeSync(openSync(path, "a", 0o600));
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
  try {
    if (formatOf(database) === 0) database.exec("PRAGMA page_size = 16384; PRAGMA auto_vacuum = INCREMENTAL");
    enterWalMode(database, busyTimeoutMs);
    // What a power cut undoes is read again.
    database.exec("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -8192; BEGIN IMMEDIATE");
    if (formatOf(database) === 0) database.exec(`${tables} PRAGMA user_version = ${format}`);
    database.exec("COMMIT");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function formatOf(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
}

/** Index words for what an event belongs to; longer than those of grams. */
export const scopeWords = {
  owner: (ownerId: string): string =>
    `owner${createHash("sha256").update(ownerId).digest("hex").slice(0, 16)}`,
  log: (number: number): string => `conversation${number.toString(36)}`,
  messages: (number: number, classCode: number): string =>
    `messages${streamOf(number, classCode).toString(36)}`,
  kind: (kind: string): string => `kindof${kind.toLowerCase().replaceAll(/[^a-z0-9]/g, "")}`,
  source: (source: string): string => `source${source.toLowerCase().replaceAll(/[^a-z0-9]/g, "")}`,
};

/** The words of grams: five or six letters and digits. */
export function toWords(grams: Iterable<number>): string[] {
  return Array.from(grams, (gram) => gram.toString(36));
}

/** What a block must have to match. */
export function toExpression(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(" AND ");
}
