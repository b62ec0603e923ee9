import { existsSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { ConfigError } from "./config.ts";
import type { ApplicationDatabase } from "./database/application-database.ts";
import { openApplicationDatabase } from "./database/sqlite-application-database.ts";
import { checkFolderStore } from "./database/data-folder-store.ts";
import { DataFolderBusyError, lockDataFolder } from "./database/data-folder-lock.ts";
import type { Journal } from "./journal/journal.ts";
import { openJournal } from "./journal/open-journal.ts";
import { openSqliteSandboxStore, sandboxesFile } from "./sandboxes/sqlite-sandbox-store.ts";
import { masterKeyCheck } from "./security/master-key.ts";
import { openKeyRotation, SealError, type KeyRotation } from "./security/seal.ts";

export type RotateDeps = {
  readonly dataDir: string;
  /** Hears how many texts have been sealed anew so far. */
  readonly onProgress?: (resealed: number) => void;
};

/** `unopened` texts were sealed with a key that was lost before; they are left as they are. */
export type RotateResult = { readonly resealed: number; readonly unopened: number };

/**
 * Seals everything in a data folder with a new master key, then drops the old one. Rejects with {@link ConfigError} while a
 * server runs on the folder. Ended half-way, it is simply started again; servers can run in between.
 */
export async function rotateMasterKey({ dataDir, onProgress = () => {} }: RotateDeps): Promise<RotateResult> {
  using _lock = lockAlone(dataDir);
  await checkFolderStore(dataDir, null);
  if (existsSync(masterKeyCheck(dataDir))) {
    throw new ConfigError(
      `The secrets of ${dataDir} are sealed with a key that is configured, and only a key in the folder can be changed.`,
    );
  }
  await using database = await openApplicationDatabase(dataDir);
  await using journal = await openJournal({ dataDir });
  const rotation = await openKeyRotation(join(dataDir, "master-key"));
  const tally = new Tally(rotation, onProgress);
  await resealTables(database, tally);
  await resealConversations(journal, tally);
  await resealSandboxes(dataDir, tally);
  await rotation.finish();
  return { resealed: tally.resealed, unopened: tally.unopened };
}

function lockAlone(dataDir: string): Disposable {
  try {
    return lockDataFolder(dataDir, "alone");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      throw new ConfigError(`There is no data folder ${dataDir}.`, { cause: error });
    }
    if (!(error instanceof DataFolderBusyError)) throw error;
    throw new ConfigError(`A server runs on ${dataDir}. Stop it first.`, { cause: error });
  }
}

class Tally {
  resealed = 0;
  unopened = 0;
  readonly #rotation: KeyRotation;
  readonly #onProgress: (resealed: number) => void;

  constructor(rotation: KeyRotation, onProgress: (resealed: number) => void) {
    this.#rotation = rotation;
    this.#onProgress = onProgress;
  }

  /** Hands the new form of a text to `store`, unless there is nothing to do or no key for it. */
  async change(sealed: string, store: (resealed: string) => Promise<unknown>): Promise<void> {
    const resealed = this.#reseal(sealed);
    if (resealed === null) return;
    await store(resealed);
    this.resealed += 1;
    this.#onProgress(this.resealed);
  }

  #reseal(sealed: string): string | null {
    try {
      return this.#rotation.reseal(sealed);
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      this.unopened += 1;
      return null;
    }
  }
}

/** Every column that is named `sealed_*`, so that none can be forgotten. */
async function resealTables({ tables }: ApplicationDatabase, tally: Tally): Promise<void> {
  for (const { name, columns } of await tables.introspection.getTables()) {
    for (const column of columns.filter((one) => one.name.startsWith("sealed_"))) {
      const [table, field] = [sql.table(name), sql.ref(column.name)];
      const { rows } = await sql<SealedRow>`
        SELECT rowid, ${field} AS sealed FROM ${table} WHERE ${field} IS NOT NULL ORDER BY rowid`.execute(
        tables,
      );
      for (const { rowid, sealed } of rows) {
        await tally.change(sealed, (resealed) =>
          sql`UPDATE ${table} SET ${field} = ${resealed} WHERE rowid = ${rowid}`.execute(tables),
        );
      }
    }
  }
}

type SealedRow = { readonly rowid: number; readonly sealed: string };

async function resealConversations(journal: Journal, tally: Tally): Promise<void> {
  for (let pageId: string | null | undefined; pageId !== null;) {
    const page = await journal.searchConversations({
      sort: "CREATED_AT",
      limit: 100,
      ...(pageId === undefined ? {} : { pageId }),
    });
    for (const { id, sealedSecrets, lastSeq } of page.items) {
      if (sealedSecrets === null) continue;
      await tally.change(sealedSecrets, async (resealed) => {
        const lease = await journal.claim(id);
        await journal.append(lease, {
          expectedSeq: lastSeq,
          events: [],
          conversation: { sealedSecrets: resealed },
        });
        await journal.release(lease);
      });
    }
    pageId = page.nextPageId;
  }
}

/** A data folder that never had sandboxes gets no file for them. */
async function resealSandboxes(dataDir: string, tally: Tally): Promise<void> {
  const file = sandboxesFile(dataDir);
  if (!existsSync(file)) return;
  await using store = openSqliteSandboxStore(file);
  for (const { id, sealedKey } of await store.list()) {
    await tally.change(sealedKey, (resealed) => store.update(id, { sealedKey: resealed }));
  }
}
