import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** Opens a database file that only its owner can read (or `:memory:`), made when there is none. */
export function openPrivateSqlite(path: string): DatabaseSync {
  // Made here, because SQLite makes files that the whole machine can read; its side files take the mode of this one.
  if (path !== ":memory:") closeSync(openSync(path, "a", 0o600));
  return new DatabaseSync(path, { timeout: 5_000 });
}

/** True when the disk is full, gone or reads only; what was asked for was then not kept. */
export function isStorageFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("errcode" in error) return storageCodes.has(Number(error.errcode) & 0xff);
  return "code" in error && systemCodes.has(String(error.code));
}

/** SQLITE_READONLY, IOERR, FULL and CANTOPEN. Source: sqlite.org/rescode.html. */
const storageCodes = new Set([8, 10, 13, 14]);
const systemCodes = new Set(["ENOSPC", "EDQUOT", "EROFS", "EIO"]);
