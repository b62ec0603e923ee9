import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { isBusy } from "../database/sqlite-file.ts";
import { inFile } from "../lib/storage-fault.ts";

export type WaitOptions = {
  readonly timeoutMs: number;
  /** Called once, when it has waited for a second. */
  readonly onWait: (path: string) => void;
};

const pollMs = 50;
const quietMs = 1_000;

/** Resolves when nobody keeps readers out of a database file any more. Rejects after the time with the error of SQLite, which names the file. */
export async function waitUntilReadable(path: string, { timeoutMs, onWait }: WaitOptions): Promise<void> {
  const startMs = performance.now();
  let isReported = false;
  for (let lock = findLock(path); lock !== null; lock = findLock(path)) {
    const waitedMs = performance.now() - startMs;
    if (waitedMs >= timeoutMs) throw inFile(lock, path);
    if (!isReported && waitedMs >= quietMs) {
      isReported = true;
      onWait(path);
    }
    await sleep(pollMs);
  }
}

/** The error of who reads a locked file; null for a file that can be read, and for every other fault, which its reader reports. */
function findLock(path: string): unknown {
  if (!existsSync(path)) return null;
  try {
    using database = new DatabaseSync(path, { readOnly: true, timeout: 0 });
    database.prepare("SELECT count(*) FROM sqlite_schema").get();
    return null;
  } catch (error) {
    return isBusy(error) ? error : null;
  }
}
