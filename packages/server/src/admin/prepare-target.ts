import { lstat, mkdir, readdir, rm } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { ConfigError } from "../boot/config.ts";
import { unfinishedBackup } from "../journal/open-journal.ts";

export type TargetDeps = {
  /** The folder that will be copied; nothing is written inside of it. */
  readonly from: string;
  readonly target: string;
  /** What the copy is, as a sentence begins: "The backup". */
  readonly copy: string;
};

/**
 * Makes the folder that a copy goes to, and empties one whose copy was cut off. True when it did not exist before. Rejects with {@link
 * ConfigError} for a folder with other things in it, and for one inside of `from`.
 */
export async function prepareTarget({ from, target, copy }: TargetDeps): Promise<boolean> {
  const way = relative(resolve(from), resolve(target));
  if (way === "" || !(way.startsWith("..") || way.startsWith("/"))) {
    throw new ConfigError(`${copy} cannot be inside of ${from}. Choose another folder than ${target}.`);
  }
  if ((await lstat(target).catch(() => null))?.isFile() === true)
    throw new ConfigError(`${target} is a file. Name a folder that is empty or not there.`);
  const created = await mkdir(target, { recursive: true, mode: 0o700 });
  const there = await readdir(target);
  // Interrupted, for example by a signal: this copy is unusable.
  if (there.includes(unfinishedBackup)) await emptyFolder(target);
  else if (there.length > 0) {
    throw new ConfigError(
      `The folder ${target} is not empty. Name a new one: ${copy.toLowerCase()} is not mixed with what is there.`,
    );
  }
  return created !== undefined;
}

/** The mark is removed last: an interruption here still leaves an unfinished copy. */
export async function emptyFolder(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name !== unfinishedBackup);
  for (const name of [...names, unfinishedBackup])
    await rm(join(folder, name), { recursive: true, force: true });
}
