import { constants } from "node:fs";
import {
  copyFile,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ConfigError } from "./config.ts";
import { checkFolderStore } from "./database/data-folder-store.ts";
import { lockDataFolder } from "./database/data-folder-lock.ts";
import { unfinishedBackup } from "./journal/open-journal.ts";
import { textsFile } from "./journal/sqlite/texts/tables.ts";
import { inFile } from "./lib/storage-fault.ts";

export type BackUpDeps = {
  readonly dataDir: string;
  /** A folder that is empty, or not there. */
  readonly target: string;
  /** Hears each file that is copied, relative to the data folder. */
  readonly onProgress: (file: string) => void;
};

/**
 * Copies a data folder that servers may be working on, so that a server can start from the copy. Each database is copied as it
 * is at one moment, in an order in which nothing can be ahead of the log that must not be: what points into the log (webhook
 * cursors, spending) before it, the records of what tools began after it, so that nothing begins a second time. The index of
 * texts is not copied: it is made anew. Resolves to
 * the number of files. Rejects with {@link ConfigError} for a target that is not empty.
 */
export async function backUp({ dataDir, target, onProgress }: BackUpDeps): Promise<number> {
  await checkFolderStore(dataDir, null);
  await checkTarget(dataDir, target);
  // While it is held nobody can change the master key.
  using _lock = lockDataFolder(dataDir, "shared");
  const unfinished = join(target, unfinishedBackup);
  await writeFile(unfinished, "This backup has not come to its end. Make another.\n", { mode: 0o600 });
  const copy = new Copy(dataDir, target, onProgress);
  const entries = (await readdir(dataDir)).filter((name) => !leftOut.test(name) && name !== textsFile);
  for (const name of entries.filter((name) => name !== journal && !isOfTools(name))) await copy.take(name);
  await copy.take(journal);
  for (const name of entries.filter(isOfTools)) await copy.take(name);
  await syncFolder(target);
  await rm(unfinished);
  await syncFolder(target);
  return copy.count;
}

const journal = "journal.db";

/** Who uses the folder now, and what belongs to a database that is copied with it. */
const leftOut = /^(?:nodes|in-use\.lock)$|-(?:wal|shm|journal)$/;

/** Kept by tools while they work. */
function isOfTools(name: string): boolean {
  return (
    name === "conversations" || name === "sandboxes" || name === "bash.sqlite" || name === "sandboxes.sqlite"
  );
}

class Copy {
  count = 0;
  readonly #from: string;
  readonly #to: string;
  readonly #onProgress: (file: string) => void;

  constructor(from: string, to: string, onProgress: (file: string) => void) {
    this.#from = from;
    this.#to = to;
    this.#onProgress = onProgress;
  }

  /** A file or a folder with everything in it; what is gone meanwhile is left out. */
  async take(name: string): Promise<void> {
    try {
      await this.#take(name);
    } catch (error) {
      const { code, path } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT" || path?.startsWith(this.#to) === true) throw error;
    }
  }

  async #take(name: string): Promise<void> {
    const [from, to] = [join(this.#from, name), join(this.#to, name)];
    const entry = await lstat(from);
    if (entry.isDirectory()) {
      await mkdir(to, { mode: entry.mode & 0o777 });
      for (const inside of await readdir(from))
        if (!leftOut.test(inside)) await this.take(join(name, inside));
      return;
    }
    if (entry.isSymbolicLink()) await symlink(await readlink(from), to);
    else if (!entry.isFile()) return;
    else if (isOwnDatabase(name)) await copyDatabase(from, to);
    else await copyFile(from, to, constants.COPYFILE_FICLONE);
    this.count += 1;
    this.#onProgress(name);
  }
}

/** What an agent keeps in its workspace is copied as it lies there. */
function isOwnDatabase(name: string): boolean {
  return name === journal || /^[^/]+\.sqlite$/.test(name) || name.endsWith("/executions.sqlite");
}

async function copyDatabase(from: string, to: string): Promise<void> {
  await writeFile(to, "", { mode: 0o600, flag: "wx" });
  try {
    using database = new DatabaseSync(from, { readOnly: true, timeout: 30_000 });
    database.prepare("VACUUM INTO ?").run(to);
  } catch (error) {
    throw inFile(error, from);
  }
  await using file = await open(to, "r+");
  await file.sync();
}

async function checkTarget(dataDir: string, target: string): Promise<void> {
  const isThere = await stat(dataDir)
    .then((found) => found.isDirectory())
    .catch(() => false);
  if (!isThere) throw new ConfigError(`There is no data folder ${dataDir}. Name it with --data-dir.`);
  const way = relative(resolve(dataDir), resolve(target));
  if (way === "" || !(way.startsWith("..") || way.startsWith("/"))) {
    throw new ConfigError(
      `The backup cannot be inside of the data folder. Choose another folder than ${target}.`,
    );
  }
  await mkdir(target, { recursive: true, mode: 0o700 });
  if ((await readdir(target)).length > 0) {
    throw new ConfigError(`The folder ${target} is not empty. Name a new one: backups are not mixed.`);
  }
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder);
  await handle.sync();
}
