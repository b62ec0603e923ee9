import type { GitChange, GitCommitsPage } from "@convoke/protocol";
import { askGit, findBase, isInRepository, parentOf } from "./git-base.ts";
import { listChangesBetween } from "./git-changes.ts";
import type { GitChangesDeps } from "./git-changes.ts";
import type { GitDeps } from "./run-git.ts";
import { WorkspaceError } from "./workspace.ts";

const fields = ["%H", "%h", "%an", "%aI", "%s"];

/** See {@link Workspace.gitCommits}. */
export async function gitCommits(deps: GitChangesDeps, path: string, limit: number): Promise<GitCommitsPage> {
  const directory = await deps.directory(path);
  if (!(await isInRepository(deps, directory))) return { commits: [], has_more: false };
  const listing = await askGit(deps, directory, [
    "log",
    "-z",
    `--max-count=${limit + 1}`,
    `--format=${fields.join("%x00")}`,
    "--no-show-signature",
    "HEAD",
    "--",
  ]);
  // A repository without a commit has no HEAD.
  const texts = listing === undefined || listing === "" ? [] : listing.replace(/\0$/, "").split("\0");
  const commits = [];
  for (let index = 0; index + fields.length <= texts.length; index += fields.length) {
    const [sha = "", shortSha = "", author = "", timestamp = "", subject = ""] = texts.slice(index);
    commits.push({ sha, short_sha: shortSha, subject, author, timestamp });
  }
  return { commits: commits.slice(0, limit), has_more: commits.length > limit };
}

/** See {@link Workspace.gitCommitChanges}. */
export async function gitCommitChanges(
  deps: GitChangesDeps,
  path: string,
  sha: string,
): Promise<GitChange[]> {
  const directory = await deps.directory(path);
  if (!(await isInRepository(deps, directory))) {
    throw new WorkspaceError("no-repository", `${path} is in no repository.`);
  }
  const commit = await findCommit(deps, directory, sha);
  return listChangesBetween(deps, directory, await parentOf(deps, directory, commit), commit);
}

/** The full id of a commit that is named by its hex digits. */
export async function findCommit(deps: GitDeps, directory: string, sha: string): Promise<string> {
  // Only ids: "HEAD~3", or a path after a colon, would be another query.
  if (/^[0-9a-f]{4,64}$/i.test(sha)) return findBase(deps, directory, sha);
  throw new WorkspaceError("bad-ref", `"${sha}" is not the id of a commit.`);
}
