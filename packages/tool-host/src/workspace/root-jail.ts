import { descriptorPath } from "../system/descriptor-path.ts";
import { systemTable } from "../system/process-table.ts";
import { constants } from "node:fs";
import type { Dirent } from "node:fs";
import { lstat, mkdir, open, readdir, readlink, realpath } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { codeOf } from "../tools/file-editor/atomic-write.ts";
import { nothingHidden, type HiddenFiles } from "./hidden-files.ts";
import { isInside } from "./is-inside.ts";
import { WorkspaceError } from "./workspace.ts";

/** A directory entry with an open (pinned) parent directory: whatever happens to the path meanwhile, `path` stays inside the root. */
export type PinnedEntry = AsyncDisposable & {
  /** For system calls that do not follow a symbolic link in the last component. */
  readonly path: string;
  /** Path of a sibling in the same pinned directory. */
  readonly sibling: (name: string) => string;
  /** For messages and child processes. */
  readonly realPath: string;
};

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/**
 * Resolves paths, with their symbolic links, inside one directory. A resolved directory is opened, and then checked by its actual
 * location, so a link that is swapped in between has no effect. Without `/proc` (macOS) the check comes before.
 */
export class RootJail {
  readonly #root: string | undefined;
  readonly #outer: RootJail | undefined;
  readonly #hidden: HiddenFiles;

  /** The content of `root` must also be inside `outer`. */
  constructor(root: string | undefined, hidden: HiddenFiles = nothingHidden, outer?: RootJail) {
    this.#root = root;
    this.#hidden = hidden;
    this.#outer = outer;
  }

  /** An existing file or directory, with links followed. */
  async existing(path: string): Promise<PinnedEntry> {
    const asked = this.#read(path);
    return this.#pin(await this.#resolve(asked, path), path);
  }

  /** An entry of an existing directory: missing, or a link that is not followed. */
  async unfollowed(path: string): Promise<PinnedEntry> {
    const asked = this.#read(path);
    const directory = await this.#resolve(dirname(asked), path);
    return this.#enter(await this.#openDirectory(directory, path), directory, basename(asked));
  }

  /** An entry that may be missing; with `createParents` its parents too. */
  async writable(path: string, options: { readonly createParents: boolean }): Promise<PinnedEntry> {
    const asked = this.#read(path);
    try {
      return await this.#pin(await this.#resolve(asked, path), path);
    } catch (error) {
      if (!(error instanceof WorkspaceError) || error.code !== "not-found") throw error;
    }
    // Missing, or a broken link: writing through such a link would create its target.
    if (await isLink(asked))
      throw new WorkspaceError("not-permitted", `${path} is a link that leads nowhere.`);
    const parent = dirname(asked);
    const missing: string[] = [];
    let existing = parent;
    for (;;) {
      const real = await this.#resolve(existing, path).catch((error: unknown) => {
        if (error instanceof WorkspaceError && error.code === "not-found") return undefined;
        throw error;
      });
      if (real !== undefined)
        return this.#descend(real, missing, basename(asked), path, options.createParents);
      if (await isLink(existing)) throw new WorkspaceError("not-permitted", `${existing} leads nowhere.`);
      missing.unshift(basename(existing));
      existing = dirname(existing);
    }
  }

  #read(path: string): string {
    if (path.includes("\0")) throw new WorkspaceError("invalid-path", "A path may not hold NUL.");
    if (!isAbsolute(path)) throw new WorkspaceError("invalid-path", `${path} is not an absolute path.`);
    return resolve(path);
  }

  async #resolve(asked: string, path: string): Promise<string> {
    const root = await this.#findRoot();
    let real: string;
    try {
      real = await realpath(asked);
    } catch (error) {
      throw toWorkspaceError(error, path);
    }
    if (!isInside(root, real)) throw outside(path);
    if (this.#hidden.hides(real)) throw hidden(path);
    return real;
  }

  async #findRoot(): Promise<string> {
    if (this.#root === undefined) return sep;
    if (this.#outer !== undefined) return this.#outer.#resolve(this.#outer.#read(this.#root), this.#root);
    return realpath(this.#root);
  }

  async #pin(real: string, path: string): Promise<PinnedEntry> {
    const root = await this.#findRoot();
    // The root itself has no parent inside the root: "." names it.
    const directory = real === root ? real : dirname(real);
    const name = real === root ? "." : basename(real);
    return this.#enter(await this.#openDirectory(directory, path), directory, name);
  }

  /** Creates missing directories one by one, each below the pinned one before it. */
  async #descend(
    real: string,
    missing: readonly string[],
    name: string,
    path: string,
    createParents: boolean,
  ): Promise<PinnedEntry> {
    if (missing.length > 0 && !createParents) {
      throw new WorkspaceError("not-found", `${path} does not exist.`);
    }
    let directory = real;
    let handle = await this.#openDirectory(directory, path);
    for (const part of missing) {
      const next = join(handleAddress(handle, directory), part);
      try {
        await mkdir(next).catch(ignoreExisting);
        directory = join(directory, part);
        const opened = await open(next, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        await handle.close();
        handle = opened;
      } catch (error) {
        await handle.close();
        throw toWorkspaceError(error, path);
      }
    }
    return this.#enter(handle, directory, name);
  }

  async #openDirectory(directory: string, path: string): Promise<FileHandle> {
    let handle: FileHandle;
    try {
      handle = await open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    } catch (error) {
      throw toWorkspaceError(error, path);
    }
    const actual = await readlink(descriptorPath(handle.fd)).catch(() => directory); // No /proc: checked before.
    const isOutside = !isInside(await this.#findRoot(), actual);
    if (!isOutside && !this.#hidden.hides(actual)) return handle;
    await handle.close();
    throw isOutside ? outside(path) : hidden(path);
  }

  #enter(handle: FileHandle, directory: string, name: string): PinnedEntry {
    const address = handleAddress(handle, directory);
    let closing: Promise<void> | undefined;
    return {
      // Concatenated and not joined: the "." must stay, so that the system resolves it inside the directory.
      path: `${address}/${name}`,
      sibling: (other) => `${address}/${other}`,
      realPath: join(directory, name),
      [Symbol.asyncDispose]: () => (closing ??= handle.close()),
    };
  }
}

/** The names in a pinned directory and their types; a link that replaced it is not followed. */
export async function listPinned(entry: PinnedEntry): Promise<Dirent[]> {
  await using handle = await open(entry.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  return await readdir(handleAddress(handle, entry.path), { withFileTypes: true });
}

/** On Linux a path through the open directory itself. */
function handleAddress(handle: FileHandle, directory: string): string {
  return systemTable.kind === "proc" ? descriptorPath(handle.fd) : directory;
}

async function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (stats) => stats.isSymbolicLink(),
    () => false, // Missing or unreadable: then it is created, or that fails by itself.
  );
}

function ignoreExisting(error: unknown): void {
  if (codeOf(error) !== "EEXIST") throw error;
}

function hidden(path: string): WorkspaceError {
  return new WorkspaceError(
    "not-permitted",
    `${path} belongs to the server itself, which serves none of it.`,
  );
}

function outside(path: string): WorkspaceError {
  return new WorkspaceError("outside-root", `${path} is outside of the workspace.`);
}

/** Converts file system errors to messages for the caller; other errors stay as they are. */
export function toWorkspaceError(error: unknown, path: string): unknown {
  switch (codeOf(error)) {
    case "ENOENT":
      return new WorkspaceError("not-found", `${path} does not exist.`, { cause: error });
    case "ENOTDIR":
      return new WorkspaceError("not-a-directory", `A part of ${path} is no directory.`, { cause: error });
    case "EISDIR":
      return new WorkspaceError("not-a-file", `${path} is a directory.`, { cause: error });
    case "EACCES":
    case "EPERM":
    case "EROFS":
    case "ELOOP":
      return new WorkspaceError("not-permitted", `${path} cannot be accessed.`, { cause: error });
    case "ENOSPC":
    case "EDQUOT":
      return new WorkspaceError("no-space", `The disk is full: ${path} was not written.`, { cause: error });
    case "ENAMETOOLONG":
    case "EINVAL":
      return new WorkspaceError("invalid-path", "The path, or a part of it, is too long or not valid.", {
        cause: error,
      });
    default:
      return error;
  }
}
