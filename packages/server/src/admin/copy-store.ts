import { mkdtemp, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyConversation, CopyConflictError } from "./copy-conversation.ts";
import { copyTables, type CopiedTables } from "./copy-tables.ts";
import { checkFolderStore } from "../database/data-folder-store.ts";
import { describePlace, type PostgresPlace } from "../database/postgres-place.ts";
import { ConfigError } from "../lib/config-error.ts";
import type { Logger } from "../lib/logger.ts";
import { openDataFolder } from "../boot/open-data-folder.ts";
import { openStore } from "../boot/open-store.ts";
import type { Store } from "../boot/store.ts";
import { SealError, type SecretBox } from "../security/seal.ts";
import { eachConversation } from "./each-conversation.ts";
import { lockAlone } from "./lock-alone.ts";

/** A data folder, or a database. */
export type CopyPlace = { readonly dataDir: string } | { readonly database: PostgresPlace };

export type CopyStoreDeps = {
  readonly from: CopyPlace;
  readonly to: CopyPlace;
  /** The secret key of stores with a configured key. A data folder with its own key file ignores it. */
  readonly masterSecret: string | null;
  readonly logger: Logger;
  /** Called after each conversation with the number copied so far. */
  readonly onProgress: (conversations: number) => void;
};

export type CopyResult = Omit<CopiedTables, "unstorable"> & {
  readonly conversations: number;
  /** The number of events, each compared on both sides. */
  readonly events: number;
  readonly added: number;
  /** One sentence for each conversation or row that could not be copied. */
  readonly conflicts: readonly string[];
  /** One sentence for each copied value that had to be changed. */
  readonly changed: readonly string[];
  /** The number of texts that the source's own key cannot open; they are copied unchanged. */
  readonly unopened: number;
};

/**
 * Copies all data of one store into another. After an interruption it is simply started again: existing data is
 * compared and not written twice. No server may use either store. Files are not copied. Rejects with {@link
 * ConfigError}.
 */
export async function copyStore(deps: CopyStoreDeps): Promise<CopyResult> {
  await using scope = new AsyncDisposableStack();
  const source = await openAlone(scope, deps.from, deps, false);
  const target = await openAlone(scope, deps.to, deps, true);
  const seal = new Resealing(source.secretBox, target.secretBox);
  const tables = await copyTables({
    source: source.database,
    target: target.database,
    unsealAtSource: (sealed) => plainOf(source.secretBox, sealed),
    unsealAtTarget: (sealed) => plainOf(target.secretBox, sealed),
    reseal: seal.reseal,
  });
  const conflicts: string[] = tables.unstorable.map(
    (row) => `The row ${row} has a NUL or half a character, which the database cannot hold.`,
  );
  const changed: string[] = [];
  let [conversations, events, added] = [0, 0, 0];
  for await (const row of eachConversation(source.journal)) {
    if (row.executionStatus === "running" && "dataDir" in deps.to) {
      conflicts.push(
        `The conversation ${row.id} is running, and a folder cannot resume runs of another store; pause it first.`,
      );
      continue;
    }
    try {
      const sides = { source: source.journal, target: target.journal, reseal: seal.reseal };
      const copied = await copyConversation(sides, row);
      conversations += 1;
      events += copied.events;
      added += copied.added;
      if (copied.changed.length > 0) changed.push(changeOf(row.id, copied.changed));
      deps.onProgress(conversations);
    } catch (error) {
      if (!(error instanceof CopyConflictError)) throw error;
      conflicts.push(error.message);
    }
  }
  const { rows, differing } = tables;
  return { rows, differing, conversations, events, added, conflicts, changed, unopened: seal.unopened };
}

function changeOf(id: string, fields: readonly string[]): string {
  return `The conversation ${id} has another ${fields.join(" and ")} at the target, which cannot hold a NUL or half a character: it has U+FFFD there.`;
}

class Resealing {
  unopened = 0;
  readonly #from: SecretBox;
  readonly #to: SecretBox;

  constructor(from: SecretBox, to: SecretBox) {
    this.#from = from;
    this.#to = to;
  }

  readonly reseal = (sealed: string): string => {
    try {
      return this.#to.seal(this.#from.unseal(sealed));
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      this.unopened += 1;
      return sealed;
    }
  };
}

/** Texts that no key opens are compared in sealed form. */
function plainOf(box: SecretBox, sealed: string): string {
  try {
    return box.unseal(sealed);
  } catch (error) {
    if (error instanceof SealError) return sealed;
    throw error;
  }
}

async function openAlone(
  scope: AsyncDisposableStack,
  place: CopyPlace,
  { masterSecret, logger }: CopyStoreDeps,
  isTarget: boolean,
): Promise<Store> {
  if ("dataDir" in place) {
    const { dataDir } = place;
    await checkFolderStore(dataDir, null);
    if (isTarget) await openDataFolder(dataDir, logger);
    else if (!existsSync(join(dataDir, "journal.db")))
      throw new ConfigError(`There is no data folder ${dataDir}.`);
    scope.use(lockAlone(dataDir));
    const secret = existsSync(join(dataDir, "master-key")) ? null : masterSecret;
    return scope.use(await openStore({ dataDir, database: null, masterSecret: secret, logger }));
  }
  // This process has no data folder, so the server that continues knows that no records of executions exist.
  const dataDir = await mkdtemp(join(tmpdir(), "convoke-copy-"));
  scope.defer(() => rm(dataDir, { recursive: true, force: true }));
  const { database } = place;
  const { openPostgresStore } = await import("../boot/open-postgres-store.ts");
  const store = scope.use(await openPostgresStore({ dataDir, database, masterSecret, logger }));
  if ((await store.findOther()) === null) return store;
  throw new ConfigError(`Servers work on the database ${describePlace(database)}. Stop them first.`);
}
