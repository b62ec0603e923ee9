import { cp, lchown, readdir, stat } from "node:fs/promises";
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

/**
 * Gives a session the state that it had without a wall: what it has begun must not begin again behind one. Does nothing once the session
 * has state behind the wall.
 */
export async function adoptState(from: string, to: string, account: WallAccount): Promise<void> {
  const isThere = async (path: string): Promise<boolean> => (await stat(path).catch(() => null)) !== null;
  if ((await isThere(to)) || !(await isThere(join(from, "executions.sqlite")))) return;
  const copied = { recursive: true, force: false, errorOnExist: false } as const;
  for (const name of stored) {
    if (await isThere(join(from, name))) await cp(join(from, name), join(to, name), copied);
  }
  if (account.become !== null) await giveTree(to, account.become);
}

async function giveTree(path: string, account: NonNullable<WallAccount["become"]>): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) await giveTree(child, account);
    else await lchown(child, account.uid, account.gid);
  }
  await lchown(path, account.uid, account.gid);
}
