import { constants } from "node:fs";
import { lstat, mkdir, open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import type { Stats } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { openArchive } from "./archive.ts";
import { readHead, soleRepository } from "./git-base.ts";
import { gitChanges } from "./git-changes.ts";
import { gitCommitChanges, gitCommits } from "./git-commits.ts";
import { gitDiff } from "./git-diff.ts";
import { gitPatch } from "./git-patch.ts";
import { gitRestore } from "./git-restore.ts";
import { withGit } from "./run-git.ts";
import { nothingHidden, type HiddenFiles } from "./hidden-files.ts";
import { listPinned, RootJail, toWorkspaceError } from "./root-jail.ts";
import type { PinnedEntry } from "./root-jail.ts";
import { WorkspaceError } from "./workspace.ts";
import { statOrNothing, writeEntry } from "./write-entry.ts";
import type { DirectoryEntry, FileStat, Workspace } from "./workspace.ts";

export type LocalWorkspaceDeps = {
  /** Every path, with links followed, must be inside this directory; without it the whole machine is accessible. */
  readonly root?: string;
  /** The allow-listed environment for git and tar. */
  readonly environment: Readonly<Record<string, string>>;
  /** Files that are served to nobody; none unless given. */
  readonly hidden?: HiddenFiles | undefined;
};

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Files and git of this machine. */
export function createLocalWorkspace({
  root,
  environment,
  hidden = nothingHidden,
}: LocalWorkspaceDeps): Workspace {
  return openWithin(root, new RootJail(root, hidden), environment, hidden);
}

function openWithin(
  root: string | undefined,
  jail: RootJail,
  environment: LocalWorkspaceDeps["environment"],
  hidden: HiddenFiles,
): Workspace {
  const place = { environment, root };
  const directory = async (path: string): Promise<string> => {
    await using entry = await jail.existing(path);
    const stats = await naming(path, async () => lstat(entry.path));
    if (!stats.isDirectory()) throw notADirectory(path);
    return entry.realPath;
  };
  const createDirectory = async (path: string): Promise<void> => {
    await using entry = await jail.writable(path, { createParents: true });
    await naming(path, async () => {
      const existing = await statOrNothing(entry.path);
      if (existing === undefined) await mkdir(entry.path);
      else if (!existing.isDirectory()) throw notADirectory(path);
    });
  };
  return {
    within: (inner) => openWithin(inner, new RootJail(inner, hidden, jail), environment, hidden),
    readFile: async (path, range) => {
      await using entry = await jail.existing(path);
      const { file, stats } = await openRegular(entry, path);
      try {
        const content = file.createReadStream({ ...range, highWaterMark: 64 * 1024 });
        return { stat: toFileStat(stats), content };
      } catch (error) {
        await file.close();
        throw new WorkspaceError("invalid-path", `This range of ${path} cannot be read.`, { cause: error });
      }
    },
    writeFile: async (path, content) => {
      await using entry = await jail.writable(path, { createParents: true });
      await naming(path, async () => writeEntry(entry, path, content));
    },
    stat: async (path) => {
      await using entry = await jail.existing(path);
      return await naming(path, async () => toFileStat(await lstat(entry.path)));
    },
    list: async (path) => {
      await using entry = await jail.existing(path);
      const names = await naming(path, async () => listPinned(entry));
      const entries = names.map(async (dirent): Promise<DirectoryEntry> => {
        const isFollowed = dirent.isSymbolicLink();
        const type = isFollowed ? await typeBehind(jail, join(path, dirent.name)) : typeOf(dirent);
        return { name: dirent.name, type };
      });
      return (await Promise.all(entries)).sort(byName);
    },
    createDirectory,
    gitChanges: async (path, ref) =>
      withGit(place, async (git) => gitChanges({ ...git, directory }, path, ref)),
    gitDiff: async (path, against) => withGit(place, async (git) => gitDiff({ ...git, jail }, path, against)),
    gitPatch: async (path, ref, leftOut) =>
      withGit(place, async (git) => gitPatch({ ...git, directory, hidden }, path, ref, leftOut)),
    gitCommits: async (path, limit) =>
      withGit(place, async (git) => gitCommits({ ...git, directory }, path, limit)),
    gitCommitChanges: async (path, sha) =>
      withGit(place, async (git) => gitCommitChanges({ ...git, directory }, path, sha)),
    gitRestore: async (path, ref) =>
      withGit(place, async (git) => gitRestore({ ...git, jail, createDirectory }, path, ref)),
    archive: async (path, exclude, format = "tar.gz") => {
      const [real, repository] = await withGit(place, async (git) => {
        const given = await directory(path);
        // A folder with an unreadable repository is archived as it is.
        const chosen = await soleRepository(git, given).catch(() => given);
        return [chosen, await readHead(git, chosen).catch(noHead)] as const;
      });
      return {
        content: await openArchive(real, environment, [...hidden.below(real), ...(exclude ?? [])], format),
        format,
        repository,
      };
    },
    home: async () => root ?? environment["HOME"] ?? homedir(),
  };
}

/** Files of a damaged repository can still be read. */
function noHead(error: unknown): null {
  if (error instanceof WorkspaceError && error.code === "bad-repository") return null;
  throw error;
}

/** Opens a regular file: a pipe or a device would block or never end. */
async function openRegular(entry: PinnedEntry, path: string): Promise<{ file: FileHandle; stats: Stats }> {
  return naming(path, async () => {
    const file = await open(entry.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const stats = await file.stat();
    if (stats.isFile()) return { file, stats };
    await file.close();
    throw new WorkspaceError("not-a-file", `${path} is not a file.`);
  });
}

async function typeBehind(jail: RootJail, path: string): Promise<DirectoryEntry["type"]> {
  try {
    await using entry = await jail.existing(path);
    return typeOf(await lstat(entry.path));
  } catch {
    return "other"; // A broken or circular link, or one out of the root: the same for the reader.
  }
}

/** Names the requested path in errors, not the resolved one. */
async function naming<Result>(path: string, task: () => Promise<Result>): Promise<Result> {
  try {
    return await task();
  } catch (error) {
    throw toWorkspaceError(error, path);
  }
}

function toFileStat(stats: Stats): FileStat {
  return { type: typeOf(stats), sizeBytes: stats.size, modifiedAtMs: Math.floor(stats.mtimeMs) };
}

function typeOf(entry: { isFile(): boolean; isDirectory(): boolean }): FileStat["type"] {
  if (entry.isFile()) return "file";
  return entry.isDirectory() ? "directory" : "other";
}

function byName(left: DirectoryEntry, right: DirectoryEntry): number {
  return Buffer.compare(Buffer.from(left.name), Buffer.from(right.name));
}

function notADirectory(path: string): WorkspaceError {
  return new WorkspaceError("not-a-directory", `${path} is not a directory.`);
}
