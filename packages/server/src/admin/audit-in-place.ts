import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../boot/config.ts";
import type { ServerConfig } from "../boot/config.ts";
import { openKeyCheck } from "../cluster/installation.ts";
import type { PostgresPlace } from "../database/postgres-place.ts";
import { checkFolderStore } from "../database/data-folder-store.ts";
import { readAllHeads, type SealedHeads } from "../observability/all-audit-heads.ts";
import { verifyAudit, type AuditReport } from "../observability/verify-audit.ts";
import { openMasterKey, readKey } from "../security/master-key.ts";
import { createSigner, type Signer } from "../security/signer.ts";

export type AuditConfig = Pick<ServerConfig, "dataDir" | "database" | "masterSecret">;

/** Checks the audit log of a data folder; servers may use it meanwhile. Rejects with {@link ConfigError} without one. */
export async function verifyAuditInPlace(config: AuditConfig): Promise<AuditReport> {
  return await verifyAudit(folderOf(config), await openSigner(config));
}

/** The sealed heads of the audit log of a data folder. Rejects with {@link ConfigError} without one. */
export async function readHeadsInPlace(config: AuditConfig): Promise<SealedHeads> {
  return await readAllHeads(folderOf(config), await openSigner(config));
}

function folderOf({ dataDir }: AuditConfig): string {
  const folder = join(dataDir, "audit");
  if (existsSync(folder)) return folder;
  throw new ConfigError(`There is no audit log in ${dataDir}. Name the data folder with --data-dir.`);
}

/** Makes no key: there is one wherever a server has run. */
async function openSigner({ dataDir, database, masterSecret }: AuditConfig): Promise<Signer> {
  await checkFolderStore(dataDir, database);
  if (database !== null) return await openSharedSigner(database, masterSecret);
  if (["master-key", "master-key-check"].some((name) => existsSync(join(dataDir, name)))) {
    return await openMasterKey(dataDir, masterSecret);
  }
  throw new ConfigError(
    `There is no master-key in ${dataDir}, which has sealed the heads. Restore it from a backup.`,
  );
}

async function openSharedSigner(place: PostgresPlace, secret: string | null): Promise<Signer> {
  if (secret === null) throw new ConfigError("Set CONVOKE_SECRET_KEY to the secret key of the servers.");
  const { openPool } = await import("../database/postgres/postgres-pool.ts");
  const pool = openPool({ url: place.url, name: "convoke audit", size: 1 }, () => {});
  try {
    const key = await readKey(secret, openKeyCheck(pool), "The secret key is not the one of the servers.");
    if (key !== null) return createSigner([key]);
    throw new ConfigError("No server has used the database yet. Name another with --database.");
  } finally {
    await pool.end();
  }
}
