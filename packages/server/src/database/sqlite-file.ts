import { closeSync, openSync } from "node:fs";
import { DatabaseSync, type DatabaseSyncOptions } from "node:sqlite";
import { syncFully } from "@convoke/tool-host/sync-fully";
import { inFile } from "../lib/storage-fault.ts";

/** How long a connection waits for another one's lock. */
const busyTimeoutMs = 10_000;
const copyTimeoutMs = 30_000;

/** Opens a database file that only its owner can read, made when there is none; every commit survives a power cut. */
export function openSqliteFile(path: string): DatabaseSync {
  // Made here, because SQLite makes files that the whole machine can read; its side files take the mode of this one.
  closeSync(openSync(path, "a", 0o600));
  const database = openNamed(path, { timeout: busyTimeoutMs });
  try {
    enterWalMode(database, busyTimeoutMs);
    database.exec("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
    syncFully(database);
    return database;
  } catch (error) {
    database.close();
    throw inFile(error, path);
  }
}

/** A second connection to a file that {@link openSqliteFile} opened. */
export function openSqliteReader(path: string): DatabaseSync {
  return openNamed(path, { readOnly: true, timeout: busyTimeoutMs });
}

function openNamed(path: string, options: DatabaseSyncOptions): DatabaseSync {
  try {
    return new DatabaseSync(path, options);
  } catch (error) {
    throw inFile(error, path);
  }
}

/** Copies a database as it is at one moment into a file that is empty. */
export function vacuumInto(from: string, to: string): void {
  using database = new DatabaseSync(from, { readOnly: true, timeout: copyTimeoutMs });
  database.prepare("VACUUM INTO ?").run(to);
}

/** True for "another connection holds the lock". */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === sqliteBusy;
}

const sqliteBusy = 5;
const retryEveryMs = 5;

/** SQLite does not wait when two processes switch a new file to WAL together, so this asks again. */
export function enterWalMode(database: DatabaseSync, waitMs: number): void {
  const deadlineMs = performance.now() + waitMs;
  for (;;) {
    try {
      database.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadlineMs) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryEveryMs);
    }
  }
}

/**
 * Locks a file for as long as the connection is open; the operating system frees it when the process dies, however it dies.
 * Throws at once, see {@link isBusy}, when others are in the way.
 */
export function lockFile(path: string, use: "shared" | "alone"): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // Nothing is ever written, so no file beside the lock may appear.
    database.exec("PRAGMA journal_mode = MEMORY");
    database.exec(use === "alone" ? "BEGIN EXCLUSIVE" : "BEGIN; SELECT count(*) FROM sqlite_schema");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
