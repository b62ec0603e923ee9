import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isBusy } from "./sqlite-file.ts";

/** Another process uses the data folder in a way that excludes this one. */
export class DataFolderBusyError extends Error {
  override readonly name = "DataFolderBusyError";
}

/**
 * Says that this process uses the data folder: together with others, or alone. The operating system frees the lock when the
 * process dies, however it dies. Throws {@link DataFolderBusyError} at once when others are in the way.
 */
export function lockDataFolder(dataDir: string, use: "shared" | "alone"): Disposable {
  const path = join(dataDir, "in-use.lock");
  closeSync(openSync(path, "a", 0o600));
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // Nothing is ever written, so no file beside the lock may appear.
    database.exec("PRAGMA journal_mode = MEMORY");
    if (use === "alone") database.exec("BEGIN EXCLUSIVE");
    else database.exec("BEGIN; SELECT count(*) FROM sqlite_schema");
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    throw new DataFolderBusyError(`The data folder ${dataDir} is in use by another process.`, {
      cause: error,
    });
  }
  return {
    [Symbol.dispose]() {
      if (database.isOpen) database.close();
    },
  };
}
