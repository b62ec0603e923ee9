import { constants, type Dirent } from "node:fs";
import { lstat, open, readdir, type FileHandle } from "node:fs/promises";
import type { LeftBehindReason } from "@convoke/protocol";
import { descriptorPath } from "@convoke/tool-host/system";
import { selfStarting } from "./self-starting.ts";

export type SelfStartingFile = {
  readonly reason: LeftBehindReason;
  /** Changes with each change of the file. An agent cannot set the time of the change that it contains. */
  readonly mark: string;
};

export type SelfStartingFiles = {
  /** By path below the folder, with `/` between names. */
  readonly files: ReadonlyMap<string, SelfStartingFile>;
  /** False when the folder has more files than one search reads. */
  readonly isComplete: boolean;
};

const maxDepth = 6;
const defaultMaxEntries = 20_000;
const maxTodoBytes = 1024 * 1024;
const names: ReadonlySet<string> = new Set(selfStarting);
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/**
 * What of a folder runs by itself later, outside of a wall: files that editors and shells obey, hooks and settings of repositories, and
 * rebases that run commands when they continue. Does not search `node_modules`. An agent can change the folder meanwhile: each step holds
 * on to the directory that it has opened, and follows no link.
 */
export async function findSelfStarting(
  folder: string,
  maxEntries = defaultMaxEntries,
): Promise<SelfStartingFiles> {
  const search = new Search(maxEntries);
  await search.directory(folder, "", 0, false);
  return { files: search.files, isComplete: search.isComplete };
}

class Search {
  readonly files = new Map<string, SelfStartingFile>();
  readonly #maxEntries: number;
  #entries = 0;

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get isComplete(): boolean {
    return this.#entries <= this.#maxEntries;
  }

  /** `at` leads to the directory; `path` is its name for people. `isStarting`: an editor obeys it, so that each file in it counts. */
  async directory(at: string, path: string, depth: number, isStarting: boolean): Promise<void> {
    await this.#within(at, async (inside, entries) => {
      for (const entry of entries) {
        const { name } = entry;
        const below = path === "" ? name : `${path}/${name}`;
        const counts = isStarting || names.has(name);
        const isFolder = entry.isDirectory();
        if (name === ".git" && isFolder) await this.#repository(`${inside}/${name}`, below);
        // As a file it points to a repository elsewhere.
        else if (name === ".git") await this.#note(`${inside}/${name}`, below, "repository");
        else if (!isFolder) await (counts && this.#note(`${inside}/${name}`, below, "starts_by_itself"));
        else if (name !== "node_modules" && depth < maxDepth)
          await this.directory(`${inside}/${name}`, below, depth + 1, counts);
      }
    });
  }

  async #repository(at: string, path: string): Promise<void> {
    await this.#within(at, async (inside) => {
      for (const name of ["config", "config.worktree", "commondir"])
        await this.#note(`${inside}/${name}`, `${path}/${name}`, "repository");
      await this.#within(`${inside}/hooks`, async (hooks, entries) => {
        for (const { name } of entries)
          if (!name.endsWith(".sample"))
            await this.#note(`${hooks}/${name}`, `${path}/hooks/${name}`, "repository");
      });
      await this.#within(`${inside}/rebase-merge`, async (rebase) => {
        const todo = `${rebase}/git-rebase-todo`;
        if (/^(x|exec) /m.test(await readSmall(todo)))
          await this.#note(todo, `${path}/rebase-merge/git-rebase-todo`, "rebase");
      });
    });
  }

  async #note(at: string, path: string, reason: LeftBehindReason): Promise<void> {
    const stat = await lstat(at).catch(notThere);
    if (stat !== null) this.files.set(path, { reason, mark: `${stat.ino}.${stat.size}.${stat.ctimeMs}` });
  }

  /** Does nothing for what is not a directory, or cannot be read. */
  async #within(
    at: string,
    read: (inside: string, entries: readonly Dirent[]) => Promise<void>,
  ): Promise<void> {
    if (!this.isComplete) return;
    const opened = await open(at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(notThere);
    if (opened === null) return;
    await using directory: FileHandle = opened;
    // A path through the handle leads to this directory, whatever its name leads to by now.
    const inside = descriptorPath(directory.fd);
    const entries = await readdir(inside, { withFileTypes: true });
    this.#entries += entries.length;
    await read(inside, entries);
  }
}

async function readSmall(at: string): Promise<string> {
  // A pipe would never end.
  const opened = await open(at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(notThere);
  if (opened === null) return "";
  await using file: FileHandle = opened;
  const stat = await file.stat();
  return stat.isFile() && stat.size <= maxTodoBytes ? await file.readFile("utf8") : "";
}

/** It is gone since it was listed, is no directory, or is closed to the server: then nothing there starts for the person either. */
function notThere(error: NodeJS.ErrnoException): null {
  if (["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM", "ENXIO"].includes(error.code ?? "")) return null;
  throw error;
}
