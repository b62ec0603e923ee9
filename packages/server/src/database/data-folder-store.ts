import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../lib/config-error.ts";
import { readIfThere } from "../lib/read-if-there.ts";
import { writeOnce } from "../lib/write-once.ts";
import { describePlace, type PostgresPlace } from "./postgres-place.ts";

/** A file of this name says that what servers on the folder keep is in a database, and in which. */
export const databaseMarker = "database";

/** Files of which a data folder has one as soon as something is kept in it. */
const storeFiles = ["journal.db", "application.sqlite"];

/**
 * Refuses a place that is not the folder's: what is kept in it would seem to be lost, and half of it would come to be elsewhere.
 * Rejects with {@link ConfigError}.
 */
export async function checkFolderStore(dataDir: string, place: PostgresPlace | null): Promise<void> {
  const file = join(dataDir, databaseMarker);
  if (place !== null) {
    if (storeFiles.some((name) => existsSync(join(dataDir, name)))) {
      throw new ConfigError(
        `The data folder ${dataDir} has conversations or settings of its own, which are not in the database. Name an empty folder with --data-dir, or leave --database (CONVOKE_DATABASE) out.`,
      );
    }
    return;
  }
  const named = (await readIfThere(file))?.trim();
  if (named === undefined) return;
  throw new ConfigError(
    `The servers on the data folder ${dataDir} keep everything in the database ${named}. Name it with --database or CONVOKE_DATABASE, or name another folder with --data-dir.`,
  );
}

/** Says in the folder where everything is kept; the folder has to be there. */
export async function markFolderStore(dataDir: string, place: PostgresPlace): Promise<void> {
  await writeOnce(join(dataDir, databaseMarker), `${describePlace(place)}\n`);
}
