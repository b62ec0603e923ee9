import { randomUUID } from "node:crypto";
import { cp, lchown, lstat, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { WallAccount } from "./wall-account.ts";

/** What a tool host stores of a session. The server stores other things beside it, which are not for the inside. */
const stored = [
  "executions.sqlite",
  "executions.sqlite-wal",
  "records-id",
  "file-editor-history",
  "planning-history",
  "observations",
  "TASKS.json",
];

export type StatePlaces = {
  /** The state of the session without a wall. */
  readonly from: string;
  /** In a folder that the inside can write. */
  readonly to: string;
  /** A folder on the same disk that the inside cannot write. */
  readonly draftsDir: string;
};

/** Whether a session has state of before its wall, and none behind it yet. */
export async function hasEarlierState({ from, to }: Pick<StatePlaces, "from" | "to">): Promise<boolean> {
  return !(await isThere(to)) && (await isThere(join(from, "executions.sqlite")));
}

/**
 * Gives a session the state that it had without a wall: what it has begun must not begin again behind one. Does nothing once the session
 * has state behind the wall.
 */
export async function adoptState({ from, to, draftsDir }: StatePlaces, account: WallAccount): Promise<void> {
  if (!(await hasEarlierState({ from, to }))) return;
  // Moved there when it is complete: in the other folder the inside could put links in the way.
  const draft = join(draftsDir, randomUUID());
  try {
    for (const name of stored) {
      if (await isThere(join(from, name))) await cp(join(from, name), join(draft, name), { recursive: true });
    }
    if (account.become !== null) await giveTree(draft, account.become);
    await rename(draft, to);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}

async function giveTree(path: string, account: NonNullable<WallAccount["become"]>): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) await giveTree(child, account);
    else await lchown(child, account.uid, account.gid);
  }
  await lchown(path, account.uid, account.gid);
}
