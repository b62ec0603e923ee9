import { chmod, readdir, stat } from "node:fs/promises";
import { checkKinds, databaseMarker } from "../database/data-folder-store.ts";
import { describeError } from "../lib/describe-error.ts";
import { ConfigError } from "../lib/config-error.ts";
import { makeDirectory } from "../lib/make-directory.ts";
import type { Logger } from "../lib/logger.ts";

/**
 * Creates the data folder with access for its owner alone. A folder that others can read is closed to them when it is
 * empty or already a data folder; any other directory may have another purpose and is refused. Rejects with {@link
 * ConfigError}.
 */
export async function openDataFolder(path: string, logger: Logger): Promise<void> {
  try {
    await makeDirectory(path, 0o700);
  } catch (error) {
    throw new ConfigError(
      `The data folder ${path} cannot be made: ${describeError(error)}. Choose another with --data-dir.`,
      { cause: error },
    );
  }
  await checkKinds(path);
  const { mode } = await stat(path);
  if ((mode & othersBits) === 0) return;
  const shown = (mode & 0o7777).toString(8).padStart(4, "0");
  const isSticky = (mode & stickyBit) !== 0;
  if (isSticky || !isOurs(await readdir(path))) {
    throw new ConfigError(
      `The data folder ${path} is open to other users (mode ${shown}) and holds other things. Choose another with --data-dir, or close it: chmod 700 ${path}`,
    );
  }
  try {
    await chmod(path, 0o700);
  } catch (error) {
    throw new ConfigError(
      `The data folder ${path} is open to other users (mode ${shown}) and cannot be closed: ${describeError(error)}. Let its owner do it: chmod 700 ${path}`,
      { cause: error },
    );
  }
  logger.warn(
    { dataDir: path, mode: shown },
    "the data folder was open to other users of the machine; now it is its owner's alone",
  );
}

const othersBits = 0o077;
const stickyBit = 0o1000;

/** A directory with any of these files is a data folder. */
const names = [
  "journal.db",
  "application.sqlite",
  "in-use.lock",
  "session-api-key",
  "master-key",
  databaseMarker,
];

function isOurs(entries: readonly string[]): boolean {
  // A new file system already has this entry.
  return entries.every((name) => name === "lost+found") || names.some((name) => entries.includes(name));
}
