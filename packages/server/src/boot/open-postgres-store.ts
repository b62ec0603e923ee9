import { openKeyCheck } from "../cluster/installation.ts";
import { PostgresCluster } from "../cluster/postgres-cluster.ts";
import { PostgresLeases } from "../cluster/postgres-leases.ts";
import { PostgresMachines } from "../cluster/postgres-machines.ts";
import { PostgresNode } from "../cluster/postgres-node.ts";
import { migrate, type SchemaPart } from "../cluster/migrate.ts";
import { markFolderStore } from "../database/data-folder-store.ts";
import { allMigrations } from "../database/migrations/all-migrations.ts";
import { checkPostgres } from "../database/postgres/check-postgres.ts";
import { openPostgresApplicationDatabase } from "../database/postgres/postgres-application-database.ts";
import type { PostgresPlace } from "../database/postgres-place.ts";
import { openJournalOf } from "../journal/postgres/postgres-journal.ts";
import { ConfigError } from "../lib/config-error.ts";
import { describeError } from "../lib/describe-error.ts";
import type { Store, StoreDeps } from "./store.ts";
import { openConfiguredKey } from "../security/master-key.ts";
import { createSecretBox } from "../security/seal.ts";

/** Which releases may work with the application's tables; what is done to them is in migrations of their own. */
const applicationTables: SchemaPart = {
  name: "application tables",
  steps: Object.keys(allMigrations).map(() => "SELECT"),
};

export type PostgresStore = Store & Pick<PostgresNode, "findOther">;

/** What a server shares with others is in the database; what belongs to its machine stays in the data folder. */
export async function openPostgresStore({
  dataDir,
  database: place,
  masterSecret,
  logger,
}: StoreDeps & { readonly database: PostgresPlace }): Promise<PostgresStore> {
  if (masterSecret === null) {
    throw new ConfigError(
      "Servers on a database need a secret key, the same for all of them: set CONVOKE_SECRET_KEY, made for example with: openssl rand -base64 32",
    );
  }
  const { isHeard } = await checkPostgres(place, logger);
  await using scope = new AsyncDisposableStack();
  const { url } = place;
  const listenUrl = isHeard ? place.listenUrl : null;
  const onFailure = (error: unknown): void =>
    logger.warn({ error: describeError(error) }, "something went wrong with the database; it is tried again");
  const node = scope.use(await PostgresNode.open({ url, dataDir, onFailure }));
  await markFolderStore(dataDir, place);
  // A change of the key looks for nodes after it has begun, so one of the two sees the other.
  const key = await openConfiguredKey(masterSecret, openKeyCheck(node.pool));
  await migrate(node.pool, applicationTables);
  const database = scope.use(await openPostgresApplicationDatabase(url, logger, node.timeline));
  const journal = scope.use(
    await openJournalOf(node, { onFailure, ...(listenUrl === undefined ? {} : { listenUrl }) }),
  );
  const owned = scope.move();
  return {
    journal,
    database,
    secretBox: createSecretBox(key),
    leases: new PostgresLeases(node),
    cluster: new PostgresCluster(node, key),
    findOther: () => node.findOther(),
    machines: node.machine === null ? null : new PostgresMachines(node, node.machine, logger),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
