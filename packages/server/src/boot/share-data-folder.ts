import { DataFolderBusyError, lockDataFolder } from "../database/data-folder-lock.ts";
import { ConfigError } from "./config.ts";

/** While a server uses the folder, its master key must not be rotated. */
export function shareDataFolder(dataDir: string): Disposable {
  try {
    return lockDataFolder(dataDir, "shared");
  } catch (error) {
    if (!(error instanceof DataFolderBusyError)) throw error;
    throw new ConfigError(
      `The master key of ${dataDir} is being changed. Start again when "convoke keys rotate-master" has ended.`,
      { cause: error },
    );
  }
}
