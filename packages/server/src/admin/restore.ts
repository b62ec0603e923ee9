import { existsSync } from "node:fs";
import { lstat, open, readdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError } from "../boot/config.ts";
import { lockDataFolder } from "../database/data-folder-lock.ts";
import { checkBackup } from "./check-backup.ts";
import { checkAnyRelease, type Damage } from "./check-data.ts";
import { type CopiedFolder, copyDataFolder } from "./copy-data-folder.ts";
import { prepareTarget } from "./prepare-target.ts";

export type RestoreDeps = {
  readonly backup: string;
  /** An empty or new folder, or one with an unfinished copy. */
  readonly target: string;
  /** Whether databases are checked before they are copied; otherwise damaged ones are copied as they are. */
  readonly isChecked: boolean;
  /** Called with what is done now: the file that is checked, each file that is copied. */
  readonly onProgress: (sentence: string) => void;
};

/**
 * Copies a backup into a folder that a server can start from. Everything is on the disk when it returns; after a failure nothing of
 * the copy is left. Rejects with {@link ConfigError} for what is no backup, is damaged or of a newer version, and for a target that is
 * not empty.
 */
export async function restore({ backup, target, isChecked, onProgress }: RestoreDeps): Promise<CopiedFolder> {
  await checkBackup(backup);
  const isNew = await prepareTarget({ from: backup, target, copy: "The restored folder" });
  try {
    if (isChecked) await refuseDamage(backup, onProgress);
  } catch (error) {
    if (isNew) await rmdir(target);
    throw error;
  }
  // Where a server has run on the backup one may be there now, and only then there is a lock. A backup may be on a read-only disk.
  using _lock = existsSync(join(backup, "in-use.lock")) ? lockDataFolder(backup, "shared") : null;
  return await copyDataFolder({
    from: backup,
    target,
    isNew,
    takesDamaged: !isChecked,
    onProgress,
    finish: async () => {
      onProgress("waiting for the disk ...");
      await syncTree(Buffer.from(target));
    },
  });
}

async function refuseDamage(backup: string, onProgress: (sentence: string) => void): Promise<void> {
  const damages: Damage[] = [];
  await checkAnyRelease({
    dataDir: backup,
    onDamage: (damage) => damages.push(damage),
    onProgress: (file) => onProgress(`checking ${file}`),
  });
  if (damages.length === 0) return;
  const named = damages.slice(0, shownDamages).map(({ file, problem }) => `${file}: ${problem}`);
  const rest = damages.length > named.length ? ` And ${damages.length - named.length} more.` : "";
  throw new ConfigError(
    `The backup is damaged. ${named.join(" ")}${rest} Use another backup, or restore this one as it is with --no-check: what can be read of it is served.`,
  );
}

const shownDamages = 3;

/** Files first, then the folder that names them. Names are bytes to the system, and agents may choose any. */
async function syncTree(folder: Buffer): Promise<void> {
  for (const name of await readdir(folder, { encoding: "buffer" })) {
    const path = Buffer.concat([folder, Buffer.from("/"), name]);
    const found = await lstat(path);
    if (found.isDirectory()) await syncTree(path);
    else if (found.isFile()) await syncFile(path);
  }
  await syncFile(folder);
}

async function syncFile(path: Buffer): Promise<void> {
  await using file = await open(path);
  await file.sync();
}
