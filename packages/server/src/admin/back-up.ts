import { lstat, mkdir, open, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { ConfigError } from "../boot/config.ts";
import { FolderCopy } from "../database/folder-copy.ts";
import { checkFolderStore } from "../database/data-folder-store.ts";
import { lockDataFolder } from "../database/data-folder-lock.ts";
import { unfinishedBackup } from "../journal/open-journal.ts";
import { textsFile } from "../journal/sqlite/texts/tables.ts";
import { sandboxesLock } from "../sandboxes/sqlite-sandbox-store.ts";

export type BackUpDeps = {
  readonly dataDir: string;
  /** A folder that is empty, or not there, or holds a backup that was cut off. */
  readonly target: string;
  /** Hears each file that is copied, relative to the data folder. */
  readonly onProgress: (file: string) => void;
};

export type BackUpResult = {
  readonly files: number;
  /** What is in a sandbox and cannot be read by this user, relative to the data folder. */
  readonly leftOut: readonly string[];
};

/**
 * Copies a data folder that servers may be working on, so that a server can start from the copy. Each database is copied as it
 * is at one moment, in an order in which nothing can be ahead of the log that must not be: what points into the log (webhook
 * cursors, spending) before it, the records of what tools began after it, so that nothing begins a second time. The index of
 * texts is not copied: it is made anew. When it fails, nothing is left of it. Rejects with {@link ConfigError} for a target that is
 * not empty.
 */
export async function backUp({ dataDir, target, onProgress }: BackUpDeps): Promise<BackUpResult> {
  await checkFolderStore(dataDir, null);
  await checkTarget(dataDir, target);
  // While it is held nobody can change the master key.
  using _lock = lockDataFolder(dataDir, "shared");
  const unfinished = join(target, unfinishedBackup);
  try {
    await writeFile(unfinished, "This backup has not come to its end. Make another.\n", { mode: 0o600 });
    const copy = new FolderCopy({ from: dataDir, to: target, onProgress });
    const entries = (await copy.list()).filter((name) => !ofThisMoment.has(name));
    for (const name of entries.filter((name) => name !== journal && !isOfTools(name))) await copy.take(name);
    await copy.take(journal);
    for (const name of entries.filter(isOfTools)) await copy.take(name);
    await syncFolder(target);
    await rm(unfinished);
    await syncFolder(target);
    return { files: copy.count, leftOut: copy.leftOut };
  } catch (error) {
    // A disk that has failed may refuse this too. What stays is marked as unfinished, and the next backup removes it.
    await empty(target).catch(() => {});
    throw error;
  }
}

const journal = "journal.db";

/** Who uses the folder now, and what is made anew. */
const ofThisMoment: ReadonlySet<string> = new Set([
  "nodes",
  "running",
  "in-use.lock",
  sandboxesLock,
  unfinishedBackup,
  textsFile,
]);

/** Kept by tools while they work. */
function isOfTools(name: string): boolean {
  return (
    name === "conversations" || name === "sandboxes" || name === "bash.sqlite" || name === "sandboxes.sqlite"
  );
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
  if ((await lstat(target).catch(() => null))?.isFile() === true)
    throw new ConfigError(`${target} is a file. Name a folder that is empty or not there.`);
  await mkdir(target, { recursive: true, mode: 0o700 });
  const there = await readdir(target);
  // Cut off, for example by a signal: nobody can use it.
  if (there.includes(unfinishedBackup)) await empty(target);
  else if (there.length > 0) {
    throw new ConfigError(`The folder ${target} is not empty. Name a new one: backups are not mixed.`);
  }
}

/** Its mark goes last: what is cut off here is still an unfinished backup. */
async function empty(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name !== unfinishedBackup);
  for (const name of [...names, unfinishedBackup])
    await rm(join(folder, name), { recursive: true, force: true });
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder);
  await handle.sync();
}
