import { existsSync, type Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError } from "../lib/config-error.ts";
import { readIfThere } from "../lib/read-if-there.ts";
import { writeOnce } from "../lib/write-once.ts";
import { describePlace, type PostgresPlace } from "./postgres-place.ts";

/** A file of this name says that what servers on the folder keep is in a database, and in which. */
export const databaseMarker = "database";

/** A data folder with any content has one of these files. */
const storeFiles = ["journal.db", "application.sqlite"];

/**
 * Refuses a place that is not the folder's: what is kept in it would seem to be lost, and half of it would come to be elsewhere.
 * Rejects with {@link ConfigError}.
 */
export async function checkFolderStore(dataDir: string, place: PostgresPlace | null): Promise<void> {
  await checkKinds(dataDir);
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

/**
 * Refuses a folder in which something of ours is a file in the place of a folder, or the other way round: what opens it would only say that
 * it exists already. Rejects with {@link ConfigError}.
 */
export async function checkKinds(dataDir: string): Promise<void> {
  const check = async (name: string, kind: "file" | "folder"): Promise<void> => {
    const path = join(dataDir, name);
    const found = await statIfThere(path);
    if (found === null || (kind === "file" ? found.isFile() : found.isDirectory())) return;
    throw new ConfigError(
      `${path} is no ${kind}, and a ${kind} of the server has this name. Move it away, or name another folder with --data-dir.`,
    );
  };
  await Promise.all([
    ...ownFiles.map((name) => check(name, "file")),
    ...ownFolders.map((name) => check(name, "folder")),
  ]);
}

/** What a data folder has by itself; see the table in docs/guides/data-folder.md. */
const ownFiles = [
  ...storeFiles,
  "texts.db",
  "sandboxes.sqlite",
  "bash.sqlite",
  "master-key",
  "master-key-check",
  "session-api-key",
  "in-use.lock",
  "sandboxes.lock",
  databaseMarker,
  "machine",
];
const ownFolders = ["nodes", "running", "audit", "skills", "sandboxes", "conversations"];

async function statIfThere(path: string): Promise<Stats | null> {
  try {
    return await stat(path);
  } catch (error) {
    // Another check reports what is wrong with a foreign folder.
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}

/** Says in the folder where everything is kept; the folder has to be there. */
export async function markFolderStore(dataDir: string, place: PostgresPlace): Promise<void> {
  await writeOnce(join(dataDir, databaseMarker), `${describePlace(place)}\n`);
}
