import { join } from "node:path";
import { openKeyCheck } from "../cluster/installation.ts";
import { migrate } from "../cluster/migrate.ts";
import { PostgresNode } from "../cluster/postgres-node.ts";
import { openPostgresApplicationDatabase } from "../database/postgres/postgres-application-database.ts";
import { changeSealedSecrets } from "../journal/postgres/sealed-secrets.ts";
import { journalSchema } from "../journal/postgres/schema.ts";
import { ConfigError } from "../lib/config-error.ts";
import { silentLogger } from "../lib/logger.ts";
import { resealAllHeads } from "../observability/all-audit-heads.ts";
import { Reseal, resealTables, type RotateResult } from "./reseal.ts";
import { openSecretRotation, type SecretChange } from "../security/secret-rotation.ts";

export type PostgresRotateDeps = {
  readonly url: string;
  /** That of this machine; its audit log is sealed with the same key. */
  readonly dataDir: string;
  readonly secrets: SecretChange;
  readonly onProgress: (resealed: number) => void;
};

/** See `rotateMasterKey`. Claims no conversations: a claim would mark their running tools as lost. */
export async function rotateOnPostgres({
  url,
  dataDir,
  secrets,
  onProgress,
}: PostgresRotateDeps): Promise<RotateResult> {
  // Rethrows a failure in the background.
  const onFailure = (): void => {};
  await using node = await PostgresNode.open({ url, onFailure });
  const check = openKeyCheck(node.pool);
  const isBegun = (await check.next.read()) !== null;
  const rotation = await openSecretRotation({ ...secrets, check, finish: check.takeNext });
  if (rotation === null) return { resealed: 0, unopened: 0 };
  // A starting server checks for a rotation after it has become a node, so one of the two notices the other.
  if ((await node.findOther()) !== null) {
    if (!isBegun) await check.next.remove();
    throw new ConfigError("Servers work on the database. Stop them first.");
  }
  await migrate(node.pool, journalSchema);
  await using application = await openPostgresApplicationDatabase(url, silentLogger);
  const reseal = new Reseal(rotation, onProgress);
  await resealTables(application, reseal);
  await changeSealedSecrets(node.pool, (sealed, store) => reseal.change(sealed, store));
  await resealAllHeads(join(dataDir, "audit"), rotation);
  await rotation.finish();
  return { resealed: reseal.resealed, unopened: reseal.unopened };
}
