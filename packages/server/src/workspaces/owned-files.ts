import { constants, type Dirent, type Stats } from "node:fs";
import { lchown, lstat, open, readdir, stat, type FileHandle } from "node:fs/promises";
import { descriptorPath } from "@convoke/tool-host/system";
import { dirname } from "node:path";

export type Account = { readonly uid: number; readonly gid: number };

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const asDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
const asFile = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
/** What file systems round times to, at most. */
const grainMs = 1_000;
const deepest = 128;

export type Sweep = {
  /** Absolute, without symbolic links. */
  readonly folder: string;
  readonly owner: Account;
  /** Whose files are given away. */
  readonly from: number;
  /** Only what was made since, in milliseconds since the epoch. */
  readonly sinceMs: number;
};

/**
 * Gives the owner of a folder what `from` has made in it since. The folder is somebody else's, who can change it meanwhile: each step holds
 * on to the directory that it has opened, follows no link, leaves files with a second name alone, and stays on one file system.
 */
export async function giveToOwner(sweep: Sweep): Promise<void> {
  await using folder = await open(sweep.folder, asDirectory);
  await sweepDirectory(folder, (await folder.stat()).dev, 0, sweep);
}

/** Gives a directory that was just made to the owner of the one around it; for a server that is root. */
export async function giveToParentsOwner(directory: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(dirname(directory));
  await using made = await open(directory, asDirectory);
  const sinceMs = Date.now() - grainMs;
  if (isOurs(await made.stat(), { from: 0, sinceMs })) await made.chown(uid, gid);
}

async function sweepDirectory(
  directory: FileHandle,
  device: number,
  depth: number,
  sweep: Sweep,
): Promise<void> {
  // A path through the handle leads to this directory, whatever its name leads to by now.
  const at = descriptorPath(directory.fd);
  const isTouched = (await directory.stat()).mtimeMs >= sweep.sinceMs - grainMs;
  for (const entry of await readdir(at, { withFileTypes: true })) {
    const path = `${at}/${entry.name}`;
    try {
      if (entry.isDirectory()) await sweepBelow(path, device, depth + 1, sweep);
      else if (isTouched) await giveEntry(path, entry, sweep);
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
}

async function sweepBelow(path: string, device: number, depth: number, sweep: Sweep): Promise<void> {
  if (depth > deepest) return;
  await using directory = await open(path, asDirectory);
  const found = await directory.stat();
  if (found.dev !== device) return;
  if (isOurs(found, sweep)) await directory.chown(sweep.owner.uid, sweep.owner.gid);
  await sweepDirectory(directory, device, depth, sweep);
}

async function giveEntry(path: string, entry: Dirent, sweep: Sweep): Promise<void> {
  const { owner } = sweep;
  if (entry.isSymbolicLink()) {
    if (isOurs(await lstat(path), sweep)) await lchown(path, owner.uid, owner.gid);
    return;
  }
  if (!entry.isFile()) return;
  await using file = await open(path, asFile);
  const found = await file.stat();
  if (found.isFile() && found.nlink === 1 && isOurs(found, sweep)) await file.chown(owner.uid, owner.gid);
}

function isOurs({ uid, birthtimeMs }: Stats, { from, sinceMs }: Pick<Sweep, "from" | "sinceMs">): boolean {
  return uid === from && birthtimeMs >= sinceMs - grainMs;
}

/** It was removed or replaced between two checks. */
function isGone(error: unknown): boolean {
  return ["ENOENT", "ELOOP", "ENOTDIR", "ENXIO"].includes((error as NodeJS.ErrnoException).code ?? "");
}
