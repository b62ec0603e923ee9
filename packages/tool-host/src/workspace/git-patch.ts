import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { toPathspecs } from "./exclude-patterns.ts";
import { findBase, mustAsk, readHead, soleRepository } from "./git-base.ts";
import type { GitChangesDeps } from "./git-changes.ts";
import type { HiddenFiles } from "./hidden-files.ts";
import { badRepository, runGit, type GitDeps } from "./run-git.ts";
import { WorkspaceError, type GitPatch, type LeftOut } from "./workspace.ts";

/** See {@link Workspace.gitPatch}. */
export async function gitPatch(
  deps: GitChangesDeps & { readonly hidden: HiddenFiles },
  path: string,
  ref?: string,
  { all: ofAll = [], untracked: ofUntracked = [] }: LeftOut = {},
): Promise<GitPatch> {
  const directory = await soleRepository(deps, await deps.directory(path));
  const repository = await readHead(deps, directory);
  if (repository === null) throw new WorkspaceError("no-repository", `${path} is in no repository.`);
  const base = await findBase(deps, directory, ref);
  const all = [...deps.hidden.below(directory), ...ofAll];
  const tracked = await patchOf(deps, directory, [base], toPathspecs(all));
  const untracked = await patchOfUntracked(deps, directory, toPathspecs([...all, ...ofUntracked]));
  return {
    base,
    head: repository.commit,
    repository,
    content: Readable.from([tracked, untracked], { objectMode: false }),
  };
}

const patchOptions = [
  "--binary",
  "--relative",
  "--no-renames",
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--src-prefix=a/",
  "--dst-prefix=b/",
  // The state of files inside submodules is computed by a program that their configuration can choose.
  "--ignore-submodules=dirty",
];

async function patchOf(
  deps: GitDeps,
  directory: string,
  what: readonly string[],
  excludes: readonly string[] = [],
): Promise<Buffer> {
  const paths = excludes.length === 0 ? [] : [".", ...excludes];
  const compared = await runGit({ ...deps, hasPatterns: true }, directory, [
    "diff",
    ...patchOptions,
    ...what,
    "--",
    ...paths,
  ]);
  if (compared.code !== 0) throw badRepository("git cannot compare this repository", compared);
  return compared.output;
}

/** git diffs no untracked files, so they are added temporarily, in an index and objects outside the repository. */
async function patchOfUntracked(
  deps: GitDeps,
  directory: string,
  excludes: readonly string[],
): Promise<Buffer> {
  const paths = excludes.length === 0 ? [] : ["--", ".", ...excludes];
  const listing = await mustAsk({ ...deps, hasPatterns: true }, directory, [
    "ls-files",
    "--others",
    "--exclude-standard",
    "-z",
    ...paths,
  ]);
  const objects = await mustAsk(deps, directory, [
    "rev-parse",
    "--path-format=absolute",
    "--git-path",
    "objects",
  ]);
  const empty = await mustAsk(deps, directory, ["hash-object", "-t", "tree", "--stdin"]);
  // A name with a trailing slash is a nested repository.
  const names = listing.split("\0").filter((name) => name !== "" && !name.endsWith("/"));
  if (names.length === 0) return Buffer.alloc(0);
  const folder = await mkdtemp(join(tmpdir(), "convoke-patch-"));
  try {
    const list = join(folder, "names");
    await writeFile(list, names.join("\0"));
    await mkdir(join(folder, "objects"));
    const beside: GitDeps = {
      ...deps,
      environment: {
        ...deps.environment,
        GIT_INDEX_FILE: join(folder, "index"),
        GIT_OBJECT_DIRECTORY: join(folder, "objects"),
        GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(objects.trimEnd()),
      },
    };
    const added = await runGit(beside, directory, [
      "add",
      `--pathspec-from-file=${list}`,
      "--pathspec-file-nul",
    ]);
    if (added.code !== 0) throw badRepository("git cannot read a file that it does not track", added);
    return await patchOf(beside, directory, ["--cached", empty.trim()]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
