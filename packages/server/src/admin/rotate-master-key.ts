import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../boot/config.ts";
import { openApplicationDatabase } from "../database/sqlite-application-database.ts";
import { checkFolderStore } from "../database/data-folder-store.ts";
import type { PostgresPlace } from "../database/postgres-place.ts";
import type { Journal } from "../journal/journal.ts";
import { openJournal } from "../journal/open-journal.ts";
import { resealAllHeads } from "../observability/all-audit-heads.ts";
import { Reseal, resealTables, type RotateResult } from "./reseal.ts";
import { openSqliteSandboxStore, sandboxesFile } from "../sandboxes/sqlite-sandbox-store.ts";
import { checkInFolder, masterKeyCheck } from "../security/master-key.ts";
import { openKeyRotation, takeNextKeyFile, type KeyRotation } from "../security/seal.ts";
import { openSecretRotation, type SecretChange } from "../security/secret-rotation.ts";
import { eachConversation } from "./each-conversation.ts";
import { lockAlone } from "./lock-alone.ts";

export type RotateDeps = {
  readonly dataDir: string;
  /** The database; null or absent for the store in the data folder. */
  readonly database?: PostgresPlace | null;
  /**
   * The present and the next secret of a store with a configured key; null or absent for a folder with its own key
   * file.
   */
  readonly secrets?: SecretChange | null;
  /** Called with the number of texts that were resealed so far. */
  readonly onProgress?: (resealed: number) => void;
};

/**
 * Reseals everything in a store with a new master key, then removes the old one. Rejects with {@link ConfigError} while
 * a server uses the store. After an interruption it is simply started again. Meanwhile servers can run on a folder with
 * its own key file; with a configured key no server starts.
 */
export async function rotateMasterKey(deps: RotateDeps): Promise<RotateResult> {
  const { dataDir, database = null, secrets = null, onProgress = () => {} } = deps;
  if (database !== null) {
    if (secrets === null) throw new ConfigError(bothKeys);
    const { rotateOnPostgres } = await import("./rotate-on-postgres.ts");
    return await rotateOnPostgres({ url: database.url, dataDir, secrets, onProgress });
  }
  using _lock = lockAlone(dataDir);
  await checkFolderStore(dataDir, null);
  const rotation = await openFolderRotation(dataDir, secrets);
  if (rotation === null) return { resealed: 0, unopened: 0 };
  await using application = await openApplicationDatabase(dataDir);
  await using journal = await openJournal({ dataDir });
  const reseal = new Reseal(rotation, onProgress);
  await resealTables(application, reseal);
  await resealConversations(journal, reseal);
  await resealSandboxes(dataDir, reseal);
  await resealAllHeads(join(dataDir, "audit"), rotation);
  await rotation.finish();
  return { resealed: reseal.resealed, unopened: reseal.unopened };
}

const bothKeys =
  "The key of this store is configured: set CONVOKE_SECRET_KEY to the present one and CONVOKE_SECRET_KEY_NEXT to the one that takes its place.";

/** Null when the rotation was finished earlier. */
async function openFolderRotation(
  dataDir: string,
  secrets: SecretChange | null,
): Promise<KeyRotation | null> {
  const checkFile = masterKeyCheck(dataDir);
  if (!existsSync(checkFile)) {
    if (secrets !== null) {
      throw new ConfigError(
        `The secrets of ${dataDir} are sealed with a key in the folder. Leave CONVOKE_SECRET_KEY_NEXT out: a new key is made.`,
      );
    }
    return await openKeyRotation(join(dataDir, "master-key"));
  }
  if (secrets === null) throw new ConfigError(bothKeys);
  const check = checkInFolder(dataDir);
  return await openSecretRotation({ ...secrets, check, finish: () => takeNextKeyFile(checkFile) });
}

async function resealConversations(journal: Journal, reseal: Reseal): Promise<void> {
  for await (const { id, sealedSecrets, lastSeq } of eachConversation(journal)) {
    if (sealedSecrets === null) continue;
    await reseal.change(sealedSecrets, async (resealed) => {
      const lease = await journal.claim(id);
      await journal.append(lease, {
        expectedSeq: lastSeq,
        events: [],
        conversation: { sealedSecrets: resealed },
      });
      await journal.release(lease);
    });
  }
}

/** Does not create a file for sandboxes in a data folder that never had any. */
async function resealSandboxes(dataDir: string, reseal: Reseal): Promise<void> {
  const file = sandboxesFile(dataDir);
  if (!existsSync(file)) return;
  await using store = openSqliteSandboxStore(file);
  for (const { id, sealedKey } of await store.list()) {
    await reseal.change(sealedKey, (resealed) => store.update(id, { sealedKey: resealed }));
  }
}
