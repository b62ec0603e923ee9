import { constants, type Stats } from "node:fs";
import {
  chmod,
  copyFile,
  lchown,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { inFile } from "../lib/storage-fault.ts";
import { vacuumInto } from "./sqlite-file.ts";

export type FolderCopyDeps = {
  readonly from: string;
  /** A folder that is there. */
  readonly to: string;
  /** Hears each file that is copied, by its name in the folder. */
  readonly onProgress: (file: string) => void;
  /** Whether a file, by its name in the folder, is copied before the others beside it. */
  readonly isFirst: (file: string) => boolean;
  /** Whether an own database that cannot be read is copied as it lies there; otherwise it ends the copy. */
  readonly takesDamaged: boolean;
};

/**
 * Copies a data folder file by file: own databases as they are at one moment, everything else as it lies there, with its mode and its
 * owner. Names are bytes to the system, and agents may choose any: here each byte is a character.
 */
export class FolderCopy {
  count = 0;
  readonly leftOut: string[] = [];
  readonly #from: string;
  readonly #to: string;
  readonly #onProgress: (file: string) => void;
  readonly #isFirst: (file: string) => boolean;
  readonly #takesDamaged: boolean;

  constructor({ from, to, onProgress, isFirst, takesDamaged }: FolderCopyDeps) {
    this.#from = Buffer.from(from).toString("latin1");
    this.#to = Buffer.from(to).toString("latin1");
    this.#onProgress = onProgress;
    this.#isFirst = isFirst;
    this.#takesDamaged = takesDamaged;
  }

  /** What is in the folder itself, without what belongs to a database there. */
  async list(): Promise<string[]> {
    return (await readdir(bytesOf(this.#from), "latin1")).filter((name) => !isBesideDatabase(name));
  }

  /** A file or a folder with everything in it; what is gone meanwhile is left out. */
  async take(name: string): Promise<void> {
    try {
      await this.#take(name);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" && (await this.#isGone(name))) return;
      // An agent can make files of a sandbox or a wall unreadable, which must not keep all else from being copied.
      if (code !== "EACCES" || !isOfAgents(name)) throw error;
      this.leftOut.push(textOf(name));
    }
  }

  async #isGone(name: string): Promise<boolean> {
    const folders = name.split("/").map((_, index, parts) => parts.slice(0, index + 1).join("/"));
    for (const at of folders)
      if ((await lstat(bytesOf(`${this.#from}/${at}`)).catch(() => null)) === null) return true;
    return false;
  }

  async #take(name: string): Promise<void> {
    const [from, to] = [`${this.#from}/${name}`, `${this.#to}/${name}`];
    const entry = await lstat(bytesOf(from));
    if (entry.isDirectory()) {
      const inside = (await readdir(bytesOf(from), "latin1")).map((one) => `${name}/${one}`);
      await mkdir(bytesOf(to), { mode: 0o700 });
      const ordered = inside.toSorted((one, other) => this.#rankOf(one) - this.#rankOf(other));
      for (const one of ordered) if (!isBesideDatabase(one)) await this.take(one);
      // Last: it may keep its owner from writing.
      await keepRights(to, entry);
      return;
    }
    if (entry.isSymbolicLink()) await symlink(await readlink(bytesOf(from), "buffer"), bytesOf(to));
    else if (!entry.isFile()) return;
    else if (isOwnDatabase(name)) await this.#copyDatabase(name, from, to);
    else await copyFile(bytesOf(from), bytesOf(to), constants.COPYFILE_FICLONE);
    await keepRights(to, entry);
    this.count += 1;
    this.#onProgress(textOf(name));
  }

  #rankOf(name: string): number {
    return this.#isFirst(name) ? 0 : 1;
  }

  async #copyDatabase(name: string, from: string, to: string): Promise<void> {
    try {
      await writeFile(bytesOf(to), "", { mode: 0o600, flag: "wx" });
      vacuumInto(textOf(from), textOf(to));
    } catch (error) {
      // What runs in a sandbox or behind a wall may have written or locked it: it is copied as it lies there.
      const isTaken = (this.#takesDamaged || isOfAgents(name)) && isOfDatabase(error);
      if (!isTaken) throw inFile(error, textOf(from));
      await rm(bytesOf(to), { force: true });
      await copyFile(bytesOf(from), bytesOf(to));
    }
    await using file = await open(bytesOf(to), "r+");
    await file.sync();
  }
}

/** What agents can write: sandboxes, and what tools store behind walls. */
function isOfAgents(name: string): boolean {
  return name.startsWith("sandboxes/") || /^conversations\/[^/]+\/wall\//.test(name);
}

/** What an agent keeps in its workspace is copied as it lies there. */
function isOwnDatabase(name: string): boolean {
  return ownDatabase.test(name);
}

/** In the folder itself, and what tools keep: outside of sandboxes, and in those. */
const ownDatabase =
  /^(?:journal\.db|[^/]+\.sqlite|conversations\/.+\.sqlite|sandboxes\/[^/]+\/state\/.+\.sqlite)$/;

/** The log of a database and what belongs to it, which is in the copy of the database; locks of running servers. */
function isBesideDatabase(name: string): boolean {
  if (/^audit\/[^/]+\.lock(?:-(?:wal|shm|journal))?$/.test(name)) return true;
  const database = name.replace(/-(?:wal|shm|journal)$/, "");
  return database !== name && (isOwnDatabase(database) || database === "texts.db");
}

/** Only root can give files away; for everybody else they have its own user already. */
async function keepRights(path: string, { uid, gid, mode }: Stats): Promise<void> {
  if (process.getuid?.() === 0) await lchown(bytesOf(path), uid, gid);
  const isLink = (mode & constants.S_IFMT) === constants.S_IFLNK;
  if (!isLink) await chmod(bytesOf(path), mode & 0o7777);
}

function isOfDatabase(error: unknown): boolean {
  return error instanceof Error && "errcode" in error;
}

function bytesOf(name: string): Buffer {
  return Buffer.from(name, "latin1");
}

function textOf(name: string): string {
  return bytesOf(name).toString("utf8");
}
