import { ConfigError } from "../boot/config.ts";
import { lockDataFolder } from "../database/data-folder-lock.ts";
import { checkFolderStore } from "../database/data-folder-store.ts";
import { isFolder } from "../lib/is-folder.ts";
import { type CopiedFolder, copyDataFolder } from "./copy-data-folder.ts";
import { prepareTarget } from "./prepare-target.ts";

export type BackUpDeps = {
  readonly dataDir: string;
  /** The target: an empty or new folder, or one with an unfinished backup. */
  readonly target: string;
  /** Called with each copied file, relative to the data folder. */
  readonly onProgress: (file: string) => void;
};

/** Copies a data folder, see {@link copyDataFolder}. Rejects with {@link ConfigError} for a target that is not empty. */
export async function backUp({ dataDir, target, onProgress }: BackUpDeps): Promise<CopiedFolder> {
  await checkFolderStore(dataDir, null);
  if (!(await isFolder(dataDir)))
    throw new ConfigError(`There is no data folder ${dataDir}. Name it with --data-dir.`);
  const isNew = await prepareTarget({ from: dataDir, target, copy: "The backup" });
  // While this is held, the master key cannot be rotated.
  using _lock = lockDataFolder(dataDir, "shared");
  const finish = (): Promise<void> => Promise.resolve();
  return await copyDataFolder({ from: dataDir, target, isNew, takesDamaged: false, onProgress, finish });
}
