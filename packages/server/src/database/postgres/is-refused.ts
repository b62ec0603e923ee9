import type { DatabaseError } from "pg";

/**
 * True when the server refused the statement itself; false when nobody can know what became of it. Without the driver's
 * class, which a server on SQLite does not load.
 */
export function isRefused(error: unknown): error is DatabaseError {
  return error instanceof Error && "severity" in error && "code" in error;
}
