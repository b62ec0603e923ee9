import type { DatabaseSync } from "node:sqlite";

/**
 * Lets a commit reach the disk itself and not only its cache. On macOS SQLite asks for less, unless this is set; elsewhere these settings
 * mean nothing. To be called for every connection that writes.
 */
export function syncFully(database: Pick<DatabaseSync, "exec">, platform = process.platform): void {
  if (platform === "darwin") database.exec("PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1");
}
