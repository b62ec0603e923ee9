import { unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { findBase, isInRepository, mustAsk } from "./git-base.ts";
import { findDirectory, type GitDiffDeps } from "./git-diff.ts";
import { toWorkspaceError, type PinnedEntry } from "./root-jail.ts";
import { badRepository, runGit } from "./run-git.ts";
import { WorkspaceError } from "./workspace.ts";
import { statOrNothing, writeEntry } from "./write-entry.ts";

export type GitRestoreDeps = GitDiffDeps & {
  /** Creates missing parents; an existing directory is fine. */
  readonly createDirectory: (path: string) => Promise<void>;
};

/** See {@link Workspace.gitRestore}. Writes the committed bytes; no filter is run. */
export async function gitRestore(deps: GitRestoreDeps, path: string, ref?: string): Promise<void> {
  const { realPath, rest } = await findDirectory(deps, path);
  if (!(await isInRepository(deps, realPath)))
    throw new WorkspaceError("no-repository", `${path} is in no repository.`);
  const base = await findBase(deps, realPath, ref);
  const listed = await mustAsk(deps, realPath, ["ls-tree", "-z", base, "--", rest]);
  if (listed === "") return await remove(deps, path);
  const [, mode = "", id = ""] = /^(100644|100755) blob ([0-9a-f]+)\t/.exec(listed) ?? [];
  if (id === "") throw new WorkspaceError("not-a-file", `${path} is not a file in the repository.`);
  await refuseFiltered(deps, realPath, rest, path);
  const read = await runGit(deps, realPath, ["cat-file", "blob", id]);
  if (read.code !== 0) throw badRepository("git cannot read a file of this repository", read);
  await deps.createDirectory(dirname(path));
  await onEntry(deps, path, async (entry) => {
    const before = await modeOf(entry, path);
    const permissions = permissionsOf(before, mode === "100755");
    // A link itself is replaced, not its target.
    if (before === "link") await unlink(entry.path);
    await writeEntry(entry, path, Readable.from([read.output]), permissions);
  });
}

async function remove(deps: GitRestoreDeps, path: string): Promise<void> {
  await onEntry(deps, path, async (entry) => {
    if ((await modeOf(entry, path)) !== null) await unlink(entry.path);
  });
}

async function onEntry(
  { jail }: GitRestoreDeps,
  path: string,
  act: (entry: PinnedEntry) => Promise<void>,
): Promise<void> {
  try {
    await using entry = await jail.unfollowed(path);
    await act(entry);
  } catch (error) {
    throw toWorkspaceError(error, path);
  }
}

/** The permissions of the existing file; null when there is none. */
async function modeOf(entry: PinnedEntry, path: string): Promise<number | "link" | null> {
  const stats = await statOrNothing(entry.path);
  if (stats === undefined) return null;
  if (stats.isSymbolicLink()) return "link";
  if (stats.isFile()) return stats.mode;
  throw new WorkspaceError("not-a-file", `${path} is not a file.`);
}

/** Git only stores whether a file is executable; other permissions stay. Undefined: the default for new files. */
function permissionsOf(before: number | "link" | null, isExecutable: boolean): number | undefined {
  if (typeof before !== "number") return isExecutable ? 0o755 : undefined;
  return isExecutable ? before | ((before & 0o444) >> 2) : before & ~0o111;
}

/** The repository stores something else than such a file's content, for instance where to fetch it. */
async function refuseFiltered(
  deps: GitRestoreDeps,
  directory: string,
  name: string,
  path: string,
): Promise<void> {
  const listed = await mustAsk(deps, directory, ["check-attr", "-z", "filter", "--", name]);
  const value = listed?.split("\0")[2];
  if (value === "unspecified" || value === "unset") return;
  throw new WorkspaceError(
    "not-permitted",
    `${path} passes through a filter of git, which is not run here. Restore it with git itself.`,
  );
}
