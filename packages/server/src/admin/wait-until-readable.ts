import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { isBusy } from "../database/sqlite-file.ts";
import { ConfigError } from "../lib/config-error.ts";

export type WaitOptions = {
  readonly timeoutMs: number;
  /** Called once, when it has waited for a second. */
  readonly onWait: (path: string) => void;
};

const pollMs = 50;
const quietMs = 1_000;

/** Resolves when nobody keeps readers out of a database file any more. Rejects with {@link ConfigError} after the time. */
export async function waitUntilReadable(path: string, { timeoutMs, onWait }: WaitOptions): Promise<void> {
  const startMs = performance.now();
  for (let isReported = false; isLocked(path);) {
    const waitedMs = performance.now() - startMs;
    if (waitedMs >= timeoutMs)
      throw new ConfigError(
        `${path} is locked by another process, for ${Math.round(timeoutMs / 1_000)} seconds by now. End that process, or wait longer with --timeout.`,
      );
    if (!isReported && waitedMs >= quietMs) {
      isReported = true;
      onWait(path);
    }
    await sleep(Math.min(pollMs, timeoutMs));
  }
}

/** Every other fault is reported by the caller that opens the file. */
function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    using database = new DatabaseSync(path, { readOnly: true, timeout: 0 });
    database.prepare("SELECT count(*) FROM sqlite_schema").get();
    return false;
  } catch (error) {
    return isBusy(error);
  }
}
