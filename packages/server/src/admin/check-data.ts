import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ConfigError } from "../boot/config.ts";
import { isBusy } from "../database/sqlite-file.ts";
import { checkDatabase } from "../journal/sqlite/check-database.ts";
import { type CheckDeps, checkJournal } from "../journal/sqlite/check.ts";
import { formatProblem } from "../journal/sqlite/schema.ts";
import { textsFile } from "../journal/sqlite/texts/tables.ts";
import { describeStorageFault, inFile } from "../lib/storage-fault.ts";

/** One damage: the file, relative to the data folder, and what is wrong in it. */
export type Damage = { readonly file: string; readonly problem: string };

export type CheckDataDeps = {
  readonly dataDir: string;
  readonly onDamage: (damage: Damage) => void;
  /** Called with the file that is being checked. */
  readonly onProgress: (sentence: string) => void;
};

/**
 * Compares every database of a data folder with its checksums and indexes. Changes nothing, and may run beside a
 * server. Records of executions inside sandboxes are left out: programs there can write to them.
 */
export async function checkData(deps: CheckDataDeps): Promise<{ events: number }> {
  return await checkEach(deps, checkJournal);
}

/** As {@link checkData}, also for a folder of an older release: of its journal only pages and indexes are compared. */
export async function checkAnyRelease(deps: CheckDataDeps): Promise<void> {
  await checkEach(deps, (journal) => {
    if (isOwnFormat(journal.path)) return checkJournal(journal);
    using database = openReadOnly(journal.path);
    checkDatabase(database, journal.onDamage);
    return 0;
  });
}

async function checkEach(
  { dataDir, onDamage, onProgress }: CheckDataDeps,
  checkLog: (journal: CheckDeps) => number,
): Promise<{ events: number }> {
  let events = 0;
  for (const path of await listDatabases(dataDir)) {
    const file = relative(dataDir, path);
    const onProblem = (problem: string): void => onDamage({ file, problem });
    onProgress(`${file} ...`);
    try {
      if (file === "journal.db") {
        const onEvents = (count: number): void => onProgress(`${file}: ${count} events compared`);
        events = checkLog({ path, onDamage: onProblem, onProgress: onEvents });
      } else {
        const hint =
          file === textsFile
            ? " Nothing is lost: end the server and delete the file, it is built again."
            : "";
        using database = openReadOnly(path);
        checkDatabase(database, (problem) => onProblem(`${problem}${hint}`));
      }
    } catch (error) {
      if (isBusy(error)) throw inFile(error, path);
      const sentence = describeStorageFault(error);
      if (sentence === null) throw error;
      onProblem(sentence);
    }
  }
  return { events };
}

function isOwnFormat(path: string): boolean {
  using database = openReadOnly(path);
  const format = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
  return formatProblem(path, format) === null;
}

function openReadOnly(path: string): DatabaseSync {
  return new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
}

/** What an agent has put beside the records of its tools, behind a wall. `name` is below `conversations`. */
function isOfAgent(name: string): boolean {
  return /^[^/]+\/wall\//.test(name) && !/^[^/]+\/wall\/[^/]+\/executions\.sqlite$/.test(name);
}

/** The log first. */
async function listDatabases(dataDir: string): Promise<string[]> {
  try {
    const own = (await readdir(dataDir)).filter(
      (name) => ["journal.db", textsFile].includes(name) || name.endsWith(".sqlite"),
    );
    const ofTools = await readdir(join(dataDir, "conversations"), { recursive: true }).catch(() => []);
    const inFolders = ofTools
      .filter((name) => name.endsWith(".sqlite") && !isOfAgent(name))
      .map((name) => join("conversations", name));
    return [...own.toSorted((left) => (left === "journal.db" ? -1 : 1)), ...inFolders].map((name) =>
      join(dataDir, name),
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new ConfigError(`There is no data folder ${dataDir}. Name it with --data-dir.`, { cause: error });
  }
}
