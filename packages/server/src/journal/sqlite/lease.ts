import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { isBusy, lockFile } from "../../database/sqlite-file.ts";
import { addressSuffix } from "../../cluster/address-file.ts";

/**
 * Which processes on one data folder are alive, told by the locks the operating system frees when a process dies:
 * no clock, no process id. Callers hold the database's write lock, so that two processes never probe at the same time.
 */
export class NodeLocks implements Disposable {
  readonly #folder: string;
  readonly #nodeId: string;
  readonly #own: DatabaseSync;

  private constructor(folder: string, nodeId: string, own: DatabaseSync) {
    this.#folder = folder;
    this.#nodeId = nodeId;
    this.#own = own;
  }

  /**
   * Takes the lock that says this node is alive, and removes the files of dead ones. Throws an error with the code
   * `torn_copy` when a node wrote here whose database was another file: then the folder was copied under its hands.
   */
  static open(folder: string, nodeId: string, databasePath: string): NodeLocks {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const inode = String(statSync(databasePath).ino);
    checkInodes(folder, inode);
    writeFileSync(join(folder, nodeId + inodeSuffix), inode, { mode: 0o600 });
    for (const file of readdirSync(folder)) {
      if (file.endsWith(lockSuffix)) probe(folder, file.slice(0, -lockSuffix.length));
    }
    const path = lockPath(folder, nodeId);
    writeFileSync(path, "", { mode: 0o600 });
    return new NodeLocks(folder, nodeId, lockFile(path, "alone"));
  }

  isAlive(nodeId: string): boolean {
    return nodeId === this.#nodeId || probe(this.#folder, nodeId);
  }

  [Symbol.dispose](): void {
    if (!this.#own.isOpen) return;
    this.#own.close();
    removeFiles(this.#folder, this.#nodeId);
  }
}

/** Empty where the process was ended before it could write it. */
function checkInodes(folder: string, inode: string): void {
  for (const file of readdirSync(folder)) {
    if (!file.endsWith(inodeSuffix)) continue;
    const found = readFileSync(join(folder, file), "utf8");
    if (found === "" || found === inode) continue;
    const message = `${dirname(folder)} was copied while a server was writing to it, so its files do not belong together. Copy it with "convoke backup". If no server ran while it was copied, remove ${folder} and start again.`;
    throw Object.assign(new Error(message), { code: tornCopy });
  }
}

export const tornCopy = "torn_copy";
const inodeSuffix = ".inode";

function removeFiles(folder: string, nodeId: string): void {
  rmSync(lockPath(folder, nodeId), { force: true });
  rmSync(join(folder, nodeId + inodeSuffix), { force: true });
  rmSync(join(folder, nodeId + addressSuffix), { force: true });
}

/**
 * Whether a node that owns something lives, for readers: it needs no write lock and removes nothing. Between two calls of
 * {@link NodeLocks} it holds a shared lock for a moment, so a dead node may seem alive to another process once more.
 */
export function isNodeAlive(folder: string, nodeId: string): boolean {
  const path = lockPath(folder, nodeId);
  if (!existsSync(path)) return false;
  try {
    lockFile(path, "shared").close();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  }
}

/** When a node began; null where nothing says it. */
export function nodeStartedAtMs(folder: string, nodeId: string): number | null {
  return statSync(join(folder, nodeId + inodeSuffix), { throwIfNoEntry: false })?.mtimeMs ?? null;
}

const lockSuffix = ".lock";

function lockPath(folder: string, nodeId: string): string {
  return join(folder, nodeId + lockSuffix);
}

/** True while some process holds the node's lock; the file of a dead one is removed. */
function probe(folder: string, nodeId: string): boolean {
  const path = lockPath(folder, nodeId);
  if (!existsSync(path)) return false;
  try {
    lockFile(path, "alone").close();
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  }
  removeFiles(folder, nodeId);
  return false;
}
