import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { isBusy, lockFile } from "./sqlite-file.ts";

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
  const database = lockOrBusy(path, dataDir, use);
  return {
    [Symbol.dispose]() {
      if (database.isOpen) database.close();
    },
  };
}

function lockOrBusy(path: string, dataDir: string, use: "shared" | "alone"): DatabaseSync {
  try {
    return lockFile(path, use);
  } catch (cause) {
    if (!isBusy(cause)) throw cause;
    throw new DataFolderBusyError(`The data folder ${dataDir} is in use by another process.`, { cause });
  }
}
