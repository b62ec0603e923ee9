import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { toWorkspaceError } from "./root-jail.ts";
import { badRepository, runGit } from "./run-git.ts";
import type { GitDeps } from "./run-git.ts";
import { WorkspaceError, type RepositoryHead } from "./workspace.ts";

/** Answers of git as text; undefined when it fails. */
export async function askGit(
  deps: GitDeps,
  directory: string,
  parameters: readonly string[],
): Promise<string | undefined> {
  const { code, output } = await runGit(deps, directory, parameters);
  return code === 0 ? output.toString("utf8") : undefined;
}

/** Like {@link askGit}, for commands where git can only fail because the repository is damaged. */
export async function mustAsk(
  deps: GitDeps,
  directory: string,
  parameters: readonly string[],
): Promise<string> {
  const result = await runGit(deps, directory, parameters);
  if (result.code !== 0) throw badRepository("git cannot read this repository", result);
  return result.output.toString("utf8");
}

/** True inside the working tree of a repository that is, with its objects, inside the root. */
export async function isInRepository(deps: GitDeps, directory: string): Promise<boolean> {
  return (await deps.repositories.at(directory)) !== undefined;
}

/** The checked-out branch and commit of a directory; null outside of a repository. */
export async function readHead(deps: GitDeps, directory: string): Promise<RepositoryHead | null> {
  const repository = await deps.repositories.at(directory);
  if (repository === undefined) return null;
  const branch = await askGit(deps, directory, ["symbolic-ref", "--quiet", "--short", "HEAD"]);
  const commit = await commitOf(deps, directory, "HEAD");
  const { root, remote } = repository;
  return { root, branch: branch?.trim() ?? null, commit: commit ?? null, remote };
}

/** The commit or tree to compare with; a given one must exist. */
export async function findBase(deps: GitDeps, directory: string, ref: string | undefined): Promise<string> {
  if (ref !== undefined) {
    const isName = ref !== "" && !ref.startsWith("-") && !ref.includes("\0");
    const commit = isName ? await commitOf(deps, directory, ref) : undefined;
    // Before the first commit HEAD points to nothing, and everything is new.
    if (commit === undefined && ref === "HEAD") return emptyTree(deps, directory);
    if (commit === undefined) throw new WorkspaceError("bad-ref", `The repository has no commit "${ref}".`);
    return commit;
  }
  const head = await commitOf(deps, directory, "HEAD");
  if (head === undefined) return emptyTree(deps, directory);
  return (
    (await upstream(deps, directory, head)) ??
    (await branchPoint(deps, directory)) ??
    (await localTrunk(deps, directory)) ??
    head
  );
}

/** The first parent of a commit; for the first commit the empty tree. */
export async function parentOf(deps: GitDeps, directory: string, commit: string): Promise<string> {
  return (await commitOf(deps, directory, `${commit}^1`)) ?? (await emptyTree(deps, directory));
}

/** Repositories directly below a directory, by name. */
export async function listNested(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    throw toWorkspaceError(error, directory);
  });
  const nested = await Promise.all(
    entries
      .filter((entry) => entry.isDirectory() && entry.name !== ".git")
      .map(async ({ name }) => ((await hasGit(join(directory, name))) ? [name] : [])),
  );
  return nested.flat().sort();
}

/** A directory inside a repository stays; otherwise the only repository one or two levels below it, if there is one. */
export async function soleRepository(deps: GitDeps, directory: string): Promise<string> {
  if (await isInRepository(deps, directory)) return directory;
  const folders = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const deeper = folders.filter((entry) => entry.isDirectory()).slice(0, maxFolders);
  const found = (await listNested(directory)).map((name) => join(directory, name));
  for (const { name } of deeper) {
    const inner = join(directory, name);
    // Unreadable: its repositories could not be shown either.
    const nested = found.includes(inner) ? [] : await listNested(inner).catch(() => []);
    found.push(...nested.map((below) => join(inner, below)));
  }
  const [only, ...others] = found;
  return only !== undefined && others.length === 0 ? only : directory;
}

/** Maximum number of folders to search; with more, the caller must name the repository. */
const maxFolders = 1_000;

async function hasGit(directory: string): Promise<boolean> {
  return readdir(directory).then(
    (names) => names.includes(".git"),
    () => false, // Unreadable: its changes could not be shown either.
  );
}

async function commitOf(deps: GitDeps, directory: string, name: string): Promise<string | undefined> {
  const id = await askGit(deps, directory, [
    "rev-parse",
    "--verify",
    "--quiet",
    "--end-of-options",
    `${name}^{commit}`,
  ]);
  return id?.trim();
}

/** The upstream branch; ignored when everything is pushed and nothing is changed, because it would show nothing. */
async function upstream(deps: GitDeps, directory: string, head: string): Promise<string | undefined> {
  const commit = await commitOf(deps, directory, "@{upstream}");
  if (commit === undefined || commit !== head) return commit;
  const status = await askGit(deps, directory, ["status", "--porcelain", "-z", "--ignore-submodules=dirty"]);
  return status === "" ? undefined : commit;
}

async function branchPoint(deps: GitDeps, directory: string): Promise<string | undefined> {
  for (const name of ["refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master"]) {
    const tip = await commitOf(deps, directory, name);
    if (tip === undefined) continue;
    const base = await askGit(deps, directory, ["merge-base", "HEAD", tip]);
    return base?.trim() ?? tip;
  }
  return undefined;
}

async function localTrunk(deps: GitDeps, directory: string): Promise<string | undefined> {
  for (const name of ["refs/heads/main", "refs/heads/master"]) {
    const tip = await commitOf(deps, directory, name);
    if (tip === undefined) continue;
    const { code } = await runGit(deps, directory, ["merge-base", "--is-ancestor", tip, "HEAD"]);
    if (code === 0) return tip;
  }
  return undefined;
}

/** Its id depends on the object format of the repository. */
async function emptyTree(deps: GitDeps, directory: string): Promise<string> {
  return (await mustAsk(deps, directory, ["hash-object", "-t", "tree", "--stdin"])).trim();
}
