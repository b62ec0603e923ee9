import { join } from "node:path";
import type { GitChange } from "@convoke/protocol";
import { findBase, isInRepository, listNested, mustAsk } from "./git-base.ts";
import type { GitDeps } from "./run-git.ts";
import { WorkspaceError } from "./workspace.ts";

export type GitChangesDeps = GitDeps & {
  /** The real path of an existing directory inside the root. */
  readonly directory: (path: string) => Promise<string>;
};

/** See {@link Workspace.gitChanges}. A renamed file is one DELETED and one ADDED, a file that git does not track is ADDED. */
export async function gitChanges(deps: GitChangesDeps, path: string, ref?: string): Promise<GitChange[]> {
  const directory = await findDirectory(deps, path);
  if (directory === undefined) return [];
  const nested = await listNested(directory);
  const changes = (await isInRepository(deps, directory)) ? await listChanges(deps, directory, ref) : [];
  const own = changes.filter(({ path: changed }) => !nested.some((name) => isBelow(name, changed)));
  const below = await Promise.all(nested.map(async (name) => listNestedChanges(deps, directory, name)));
  return [...own, ...below.flat()].sort(byPath);
}

async function findDirectory(deps: GitChangesDeps, path: string): Promise<string | undefined> {
  try {
    return await deps.directory(path);
  } catch (error) {
    const isMissing =
      error instanceof WorkspaceError && (error.code === "not-found" || error.code === "not-a-directory");
    if (isMissing) return undefined;
    throw error;
  }
}

/** `ref` is of the outer repository; the inner ones are compared with where their own branch started. */
async function listNestedChanges(
  deps: GitChangesDeps,
  directory: string,
  name: string,
): Promise<GitChange[]> {
  const inner = join(directory, name);
  if (!(await isInRepository(deps, inner))) return [];
  const changes = await listChanges(deps, inner, undefined);
  return changes.map(({ status, path }) => ({ status, path: `${name}/${path}` }));
}

const listingOptions = [
  "--name-status",
  "-z",
  "--relative",
  "--no-renames",
  "--no-ext-diff",
  "--no-textconv",
  // The state of files inside submodules is computed by a program that their configuration can choose.
  "--ignore-submodules=dirty",
];

async function listChanges(deps: GitDeps, directory: string, ref: string | undefined): Promise<GitChange[]> {
  const base = await findBase(deps, directory, ref);
  const tracked = await mustAsk(deps, directory, ["diff", ...listingOptions, base, "--"]);
  const untracked = await mustAsk(deps, directory, ["ls-files", "--others", "--exclude-standard", "-z"]);
  const changes = readListing(tracked);
  for (const path of untracked.split("\0")) {
    // In the base and on the disk, but removed from the index: the file exists and may differ.
    if (path !== "") changes.set(path, changes.has(path) ? "UPDATED" : "ADDED");
  }
  return [...changes].map(([path, status]) => ({ status, path }));
}

/** The differences between two commits or trees, sorted by path, relative to the directory. */
export async function listChangesBetween(
  deps: GitDeps,
  directory: string,
  from: string,
  to: string,
): Promise<GitChange[]> {
  const listing = await mustAsk(deps, directory, ["diff", ...listingOptions, from, to, "--"]);
  return [...readListing(listing)].map(([path, status]) => ({ status, path })).sort(byPath);
}

function readListing(listing: string): Map<string, GitChange["status"]> {
  const changes = new Map<string, GitChange["status"]>();
  const fields = listing.split("\0");
  for (let index = 0; index + 1 < fields.length; index += 2) {
    changes.set(fields[index + 1] as string, statusOf(fields[index] as string));
  }
  return changes;
}

function statusOf(letter: string): GitChange["status"] {
  if (letter === "A") return "ADDED";
  return letter === "D" ? "DELETED" : "UPDATED";
}

function isBelow(name: string, path: string): boolean {
  return path === name || path.startsWith(`${name}/`);
}

function byPath(left: GitChange, right: GitChange): number {
  return left.path < right.path ? -1 : Number(left.path > right.path);
}
