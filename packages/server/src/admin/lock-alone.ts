import { DataFolderBusyError, lockDataFolder } from "../database/data-folder-lock.ts";
import { ConfigError } from "../lib/config-error.ts";

/** Keeps servers from a data folder. Throws {@link ConfigError} while one runs on it. */
export function lockAlone(dataDir: string): Disposable {
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
