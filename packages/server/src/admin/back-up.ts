import { lstat, mkdir, open, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { ConfigError } from "../boot/config.ts";
import { FolderCopy } from "../database/folder-copy.ts";
import { checkFolderStore } from "../database/data-folder-store.ts";
import { lockDataFolder } from "../database/data-folder-lock.ts";
import { unfinishedBackup } from "../journal/open-journal.ts";
import { isHeadsFile } from "../observability/audit-place.ts";
import { textsFile } from "../journal/sqlite/texts/tables.ts";
import { sandboxesLock } from "../sandboxes/sqlite-sandbox-store.ts";

export type BackUpDeps = {
  readonly dataDir: string;
  /** The target: an empty or new folder, or one with an unfinished backup. */
  readonly target: string;
  /** Called with each copied file, relative to the data folder. */
  readonly onProgress: (file: string) => void;
};

export type BackUpResult = {
  readonly files: number;
  /** Files in sandboxes that this user cannot read, relative to the data folder. */
  readonly leftOut: readonly string[];
};

/**
 * Copies a data folder, also while servers use it, so that a server can start from the copy. Each database is copied as
 * of one moment. The order matters: data that points into the log (webhook cursors, spending) is copied before the log,
 * and the records of executions after it, so that no tool starts twice. The text index is not copied but rebuilt. After
 * a failure nothing of the copy is left. Rejects with {@link ConfigError} for a target that is not empty.
 */
export async function backUp({ dataDir, target, onProgress }: BackUpDeps): Promise<BackUpResult> {
  await checkFolderStore(dataDir, null);
  const isNew = await prepareTarget(dataDir, target);
  // While this is held, the master key cannot be rotated.
  using _lock = lockDataFolder(dataDir, "shared");
  const unfinished = join(target, unfinishedBackup);
  try {
    await writeFile(unfinished, "This backup is incomplete. Make another.\n", { mode: 0o600 });
    const copy = new FolderCopy({ from: dataDir, to: target, onProgress, isFirst: isAuditHeads });
    const entries = (await copy.list()).filter((name) => !ofThisMoment.has(name));
    for (const name of entries.filter((name) => name !== journal && !isOfTools(name))) await copy.take(name);
    await copy.take(journal);
    for (const name of entries.filter(isOfTools)) await copy.take(name);
    await syncFolder(target);
    await rm(unfinished);
    await syncFolder(target);
    return { files: copy.count, leftOut: copy.leftOut };
  } catch (error) {
    // On a failing disk this may fail too. The rest is marked as unfinished, and the next backup removes it.
    await (isNew ? rm(target, { recursive: true, force: true }) : empty(target)).catch(() => {});
    throw error;
  }
}

const journal = "journal.db";

/** Records of running processes, and what the server rebuilds. */
const ofThisMoment: ReadonlySet<string> = new Set([
  "nodes",
  "running",
  "in-use.lock",
  // Private homes of walls have caches of tools, and are made again.
  "walls",
  sandboxesLock,
  unfinishedBackup,
  textsFile,
]);

/** Before the lines: those that are written meanwhile are then too many for the heads, and none are missing. */
function isAuditHeads(name: string): boolean {
  return name.startsWith("audit/") && isHeadsFile(name.slice("audit/".length));
}

/** Temporary files of running tools. */
function isOfTools(name: string): boolean {
  return (
    name === "conversations" || name === "sandboxes" || name === "bash.sqlite" || name === "sandboxes.sqlite"
  );
}

/** True when the folder did not exist before. */
async function prepareTarget(dataDir: string, target: string): Promise<boolean> {
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
  const created = await mkdir(target, { recursive: true, mode: 0o700 });
  const there = await readdir(target);
  // Interrupted, for example by a signal: this backup is unusable.
  if (there.includes(unfinishedBackup)) await empty(target);
  else if (there.length > 0) {
    throw new ConfigError(`The folder ${target} is not empty. Name a new one: backups are not mixed.`);
  }
  return created !== undefined;
}

/** The mark is removed last: an interruption here still leaves an unfinished backup. */
async function empty(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name !== unfinishedBackup);
  for (const name of [...names, unfinishedBackup])
    await rm(join(folder, name), { recursive: true, force: true });
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder);
  await handle.sync();
}
