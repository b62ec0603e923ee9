import { join } from "node:path";
import { FolderCluster } from "../cluster/folder-cluster.ts";
import { checkFolderStore } from "../database/data-folder-store.ts";
import { FolderLeases } from "../cluster/named-leases.ts";
import { openApplicationDatabase } from "../database/sqlite-application-database.ts";
import { isNodeAlive } from "../journal/sqlite/lease.ts";
import { openJournal } from "../journal/open-journal.ts";
import { openMasterKey } from "../security/master-key.ts";
import type { Store, StoreDeps } from "./store.ts";

/** Opens the store of a data folder, or a shared database. Several processes may have it open. */
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
  // The journal starts a thread; meanwhile the rest is opened here.
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
    cluster: new FolderCluster(dataDir, journal.nodeId, (id) => isNodeAlive(join(dataDir, "nodes"), id)),
    machines: null,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Whatever was opened closes with the scope; a failure is reported where the result is awaited. */
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
