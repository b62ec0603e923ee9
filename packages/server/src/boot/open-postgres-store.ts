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

/** Says which releases may use the application's tables; their migrations are elsewhere. The first release has version 14. */
const applicationTables: SchemaPart = {
  name: "application tables",
  firstVersion: 14,
  steps: Object.keys(allMigrations).map(() => "SELECT"),
};

export type PostgresStore = Store & Pick<PostgresNode, "findOther">;

/** Shared data is in the database; data of this machine stays in the data folder. */
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
  const { canListen } = await checkPostgres(place, logger);
  await using scope = new AsyncDisposableStack();
  const { url } = place;
  const listenUrl = canListen ? place.listenUrl : null;
  const onFailure = (error: unknown): void =>
    logger.warn({ error: describeError(error) }, "a database operation failed; it will be retried");
  const node = scope.use(await PostgresNode.open({ url, dataDir, onFailure }));
  await markFolderStore(dataDir, place);
  // A key rotation checks for nodes after it has begun, so one of the two notices the other.
  const key = await openConfiguredKey(masterSecret, openKeyCheck(node.pool));
  await migrate(node.pool, applicationTables);
  const database = scope.use(await openPostgresApplicationDatabase(url, logger, node.timeline));
  const journal = scope.use(await openJournalOf(node, { onFailure, listenUrl }));
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
