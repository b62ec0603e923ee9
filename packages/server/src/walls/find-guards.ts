import { lstat, readdir, readFile, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Bind } from "../sandboxes/bubblewrap-arguments.ts";
import { findConfiguredFiles } from "./find-configured-files.ts";
import { isBelow } from "./refused-folder.ts";
import { selfStarting } from "./self-starting.ts";

/**
 * What must stay as it is while an agent may write in the folder, because git, editors or shells of the person would run it later.
 * Only what exists: a mount over what does not exist would leave empty files on the person's disk. In the order in which they are
 * mounted. `folder` is absolute and resolved; `hold` makes what has to exist in a folder of git. `unlocked`: names at its top that stay as
 * they are. Worktrees below `dataDir` are those of conversations, which may remove them.
 */
export async function findGuards({
  folder,
  dataDir,
  hold,
  unlocked = [],
}: {
  readonly folder: string;
  readonly dataDir: string;
  readonly hold: (gitDir: string) => Promise<void>;
  readonly unlocked?: readonly string[];
}): Promise<Bind[]> {
  const binds: Bind[] = [];
  const close = async (path: string): Promise<void> => {
    if (await isThere(path)) binds.push({ source: path, target: path, isWritable: false });
  };
  const open = (path: string): void => void binds.push({ source: path, target: path, isWritable: true });
  const pointer = join(folder, ".git");
  const repository = await findRepository(folder);
  if (repository !== null) {
    const { gitDir, commonDir } = repository;
    // A mount point cannot be renamed, so nothing can be put in its place. A link could be: then nothing there can be written.
    const hasLinks = await isLinked(commonDir);
    binds.push({ source: commonDir, target: commonDir, isWritable: !hasLinks });
    if (!hasLinks) await hold(commonDir);
    if (gitDir !== commonDir) {
      await close(join(commonDir, "worktrees"));
      open(gitDir);
      await close(join(gitDir, "commondir"));
      await close(join(gitDir, "gitdir"));
    } else {
      const worktrees = await findWorktrees(commonDir, dataDir);
      // Neither they nor the folder of all can be renamed, to put others in their place.
      if (worktrees.length > 0) open(join(commonDir, "worktrees"));
      for (const worktree of worktrees) {
        open(worktree);
        for (const name of ["commondir", "gitdir", "config.worktree"]) await close(join(worktree, name));
      }
    }
    const modules = await findModules(commonDir);
    for (const module of modules) await hold(module);
    for (const dir of [commonDir, ...modules])
      for (const name of ["hooks", "config", "config.worktree", "commondir"]) await close(join(dir, name));
    if (gitDir !== commonDir) await close(join(gitDir, "config.worktree"));
  }
  if (repository?.commonDir !== pointer) await close(pointer);
  for (const path of await findConfiguredFiles(folder))
    if (!isUnlocked(path, folder, unlocked)) await close(path);
  for (const name of selfStarting) if (!unlocked.includes(name)) await close(join(folder, name));
  return binds;
}

async function isLinked(gitDir: string): Promise<boolean> {
  const stats = await Promise.all(
    ["hooks", "config", "commondir", "objects", "refs"].map((name) =>
      lstat(join(gitDir, name)).catch(() => null),
    ),
  );
  return stats.some((stat) => stat?.isSymbolicLink() === true);
}

type Repository = { readonly gitDir: string; readonly commonDir: string };

/** The repository of a folder, when it can be trusted to be its own: an agent may have written the pointer to it. */
async function findRepository(folder: string): Promise<Repository | null> {
  const pointer = join(folder, ".git");
  const stat = await lstat(pointer).catch(() => null);
  if (stat === null) return null;
  if (stat.isDirectory()) return { gitDir: pointer, commonDir: pointer };
  if (!stat.isFile()) return null;
  const [, target] = /^gitdir: (.+?)\s*$/.exec(await readText(pointer)) ?? [];
  if (target === undefined) return null;
  try {
    const gitDir = await realpath(resolve(folder, target));
    // Git writes the way back, outside of the folder, where no agent could write it.
    const back = (await readText(join(gitDir, "gitdir"))).trim();
    if (back === "" || (await realpath(resolve(gitDir, back))) !== pointer) return null;
    const common = (await readText(join(gitDir, "commondir"))).trim();
    const commonDir = await realpath(resolve(gitDir, common));
    return isBelow(gitDir, join(commonDir, "worktrees")) ? { gitDir, commonDir } : null;
  } catch {
    // It points to nothing.
    return null;
  }
}

const maxWorktrees = 200;

/** Folders of git of the linked worktrees of a person, in which git outside obeys what they say. */
async function findWorktrees(commonDir: string, dataDir: string): Promise<string[]> {
  const place = join(commonDir, "worktrees");
  if (!(await isThere(place))) return [];
  const found: string[] = [];
  for (const name of (await readdir(place)).slice(0, maxWorktrees)) {
    const path = join(place, name);
    const back = (await readText(join(path, "gitdir"))).trim();
    if (back !== "" && !isBelow(resolve(path, back), dataDir) && (await isThere(path))) found.push(path);
  }
  return found;
}

const maxModules = 200;

/** Folders of git of the submodules, which may be nested. */
async function findModules(commonDir: string): Promise<string[]> {
  const found: string[] = [];
  const search = async (dir: string, depth: number): Promise<void> => {
    const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (!entry.isDirectory() || found.length >= maxModules) continue;
      const path = join(dir, entry.name);
      if (await isThere(join(path, "HEAD"))) {
        found.push(path);
        await search(join(path, "modules"), depth + 1);
      } else if (depth < 4) await search(path, depth + 1);
    }
  };
  const top = join(commonDir, "modules");
  if (await isThere(top)) await search(top, 0);
  return found;
}

/** Scripts below an unlocked folder that git's configuration names: the person has opened it. */
function isUnlocked(path: string, folder: string, unlocked: readonly string[]): boolean {
  return unlocked.some((name) => path === join(folder, name) || isBelow(path, join(folder, name)));
}

async function isThere(path: string): Promise<boolean> {
  // With a link anywhere in the path, a mount would show what is elsewhere, such as a file of the home.
  return await realpath(path).then(
    (found) => found === path,
    () => false,
  );
}

async function readText(path: string): Promise<string> {
  return await readFile(path, "utf8").catch(() => "");
}
