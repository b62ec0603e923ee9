import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { syncFully } from "./system/sync-fully.ts";

/** Opens a database file (or `:memory:`) that only its owner can read; creates it when missing. */
export function openPrivateSqlite(path: string): DatabaseSync {
  // Created here because SQLite creates world-readable files. Its side files inherit this mode.
  if (path !== ":memory:") closeSync(openSync(path, "a", 0o600));
  const database = new DatabaseSync(path, { timeout: 5_000 });
  syncFully(database);
  return database;
}

/** True when the disk is full, gone or read-only: then the write did not happen. */
export function isStorageFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("errcode" in error) return storageCodes.has(Number(error.errcode) & 0xff);
  return "code" in error && systemCodes.has(String(error.code));
}

/** SQLITE_READONLY, IOERR, FULL and CANTOPEN. Source: sqlite.org/rescode.html. */
const storageCodes = new Set([8, 10, 13, 14]);
const systemCodes = new Set(["ENOSPC", "EDQUOT", "EROFS", "EIO"]);
