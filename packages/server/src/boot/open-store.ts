import type { Worker } from "node:worker_threads";
import type { Cluster } from "../cluster/cluster.ts";
import type { Machines } from "../cluster/machines.ts";
import { FolderCluster } from "../cluster/folder-cluster.ts";
import type { ApplicationDatabase } from "../database/application-database.ts";
import { checkFolderStore } from "../database/data-folder-store.ts";
import { FolderLeases, type NamedLeases } from "../cluster/named-leases.ts";
import type { DatabasePlace } from "../database/open-application-database.ts";
import { openApplicationDatabase } from "../database/sqlite-application-database.ts";
import { openJournal } from "../journal/open-journal.ts";
import type { Journal } from "../journal/journal.ts";
import type { Logger } from "../lib/logger.ts";
import type { WatchdogShared } from "../lib/watchdog-memory.ts";
import { openMasterKey } from "../security/master-key.ts";
import type { SecretBox } from "../security/seal.ts";

/** Everything that a server keeps, what it seals secrets with, and the other servers that share it. */
export interface Store extends AsyncDisposable {
  readonly journal: Journal;
  readonly database: ApplicationDatabase;
  readonly secretBox: SecretBox;
  readonly leases: NamedLeases;
  readonly cluster: Cluster;
  /** Null where all servers on the store are on one machine. */
  readonly machines: Machines | null;
}

export type StoreDeps = DatabasePlace & {
  /** What secrets are sealed with; null when the folder has a key file of its own. */
  readonly masterSecret: string | null;
  readonly logger: Logger;
  /** What a thread of the store watches besides, where it has one: that of a data folder has. */
  readonly watch?: WatchdogShared | null;
  /** A thread for the journal of a data folder that was started before; see {@link startWriterThread}. */
  readonly writerThread?: Worker | undefined;
};

/** Opens the store of a data folder, or the database that several share. Several processes may have it open. */
export async function openStore(deps: StoreDeps): Promise<Store> {
  const { dataDir, database } = deps;
  await checkFolderStore(dataDir, database);
  if (database === null) return await openFolderStore(deps);
  const { openPostgresStore } = await import("./open-postgres-store.ts");
  return await openPostgresStore({ ...deps, database });
}

async function openFolderStore({
  dataDir,
  masterSecret,
  watch = null,
  writerThread,
}: StoreDeps): Promise<Store> {
  await using scope = new AsyncDisposableStack();
  // The journal starts a thread; meanwhile this one opens the rest.
  const opening = beginToOpen(scope, openJournal({ dataDir, watch, thread: writerThread }));
  const database = scope.use(await openApplicationDatabase(dataDir));
  const secretBox = await openMasterKey(dataDir, masterSecret);
  const journal = await opening;
  const owned = scope.move();
  return {
    journal,
    database,
    secretBox,
    leases: new FolderLeases(dataDir),
    cluster: new FolderCluster(dataDir, journal.nodeId),
    machines: null,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** What is being opened closes with the scope, however far it has come; its failure is told where the result is awaited. */
export function beginToOpen<Opened extends AsyncDisposable>(
  scope: AsyncDisposableStack,
  opening: Promise<Opened>,
): Promise<Opened> {
  const opened = opening.catch(() => null);
  scope.defer(async () => {
    await (await opened)?.[Symbol.asyncDispose]();
  });
  return opening;
}
