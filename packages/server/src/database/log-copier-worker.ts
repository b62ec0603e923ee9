import { parentPort, workerData } from "node:worker_threads";
import { DatabaseSync } from "node:sqlite";
import { syncFully } from "@convoke/tool-host/sync-fully";

/** The entry of the copier thread: copies the write-ahead log back into the database file on request (a checkpoint of SQLite). */
function serve(port: NonNullable<typeof parentPort>, { databasePath, closed }: CopierOptions): void {
  const database = new DatabaseSync(databasePath, { timeout: 0 });
  // A checkpoint that could not end is no loss: the log still has everything.
  database.exec("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -256");
  syncFully(database);
  const checkpoint = database.prepare("PRAGMA wal_checkpoint(PASSIVE)");
  port.on("message", (message: CopierMessage) => {
    if (message === "close") {
      database.close();
      Atomics.store(closed, 0, 1);
      Atomics.notify(closed, 0);
      port.close();
      return;
    }
    try {
      for (let round = 0; round < roundLimit; round += 1) {
        const { log, checkpointed } = checkpoint.get() as { log: number; checkpointed: number };
        // The log restarts from its beginning once a checkpoint finds nothing new in it.
        if (checkpointed >= log) break;
      }
    } catch (error) {
      if (!(error instanceof Error && "errcode" in error)) throw error;
    }
    port.postMessage("copied");
  });
}

export type CopierOptions = {
  readonly databasePath: string;
  /** Set to 1 when the database is closed. */
  readonly closed: Int32Array;
};
export type CopierMessage = "copy" | "close";

/** Each round finds what was appended during the one before, so a few of them catch up. */
const roundLimit = 8;

if (parentPort !== null) serve(parentPort, workerData as CopierOptions);
