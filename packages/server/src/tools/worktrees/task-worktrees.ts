import type { ToolHost } from "@convoke/tool-host";
import type { RepositoryQueues } from "./repository-queues.ts";
import { checkoutMs, git, hasOwnPrograms, commitOf } from "./worktree-git.ts";
import type { Worktree } from "../../engine/worktree.ts";

type Host = Pick<ToolHost, "startProcess">;

export type FinishedWork = {
  readonly worktree: Worktree;
  /** Of the commit that takes what the sub-agent left uncommitted. */
  readonly title: string;
  /** Otherwise it stays on its branch. */
  readonly mayMerge: boolean;
};

const maxNames = 50;

/**
 * Merges the work of sub-agents with worktrees into the worktree of their orderer. Nothing is stored here: each step reads the
 * repository, so that one that was cut off is made again. What is not merged stays on its branch.
 */
export class TaskWorktrees {
  readonly #queues: RepositoryQueues;

  constructor(queues: RepositoryQueues) {
    this.#queues = queues;
  }

  /** For a resumed sub-agent: its branch restarts at its orderer's commit, unless it still has unmerged work. */
  async renew(host: Host, { repository, root, branch }: Worktree): Promise<void> {
    if ((await commitOf(host, repository, `refs/heads/${branch}`)) !== null) return;
    const head = await commitOf(host, repository, "HEAD");
    const own = await commitOf(host, root, "HEAD");
    if (head === null || own === null) return;
    const isMerged =
      (await git(host, root, ["status", "--porcelain"])).output === "" &&
      (await isAncestor(host, repository, own, head));
    const checkout = ["checkout", "--quiet", "-B", branch, ...(isMerged ? [head] : [])];
    await this.#queues.post(host, repository, () => git(host, root, checkout, checkoutMs));
  }

  /** Commits what the sub-agent left, and merges it. The answer is for who ordered it; null where there is nothing to tell. */
  async finish(host: Host, { worktree, title, mayMerge }: FinishedWork): Promise<string | null> {
    const { repository, root } = worktree;
    const there = await git(host, root, ["rev-parse", "--show-toplevel"]);
    if (!there.ok || there.output !== root)
      return `Its worktree ${root} cannot be read, so nothing of it was merged.`;
    const open = names(await git(host, root, ["diff", "--name-only", "--diff-filter=U", "-z"]));
    if (open.length > 0)
      return `It left a merge of its own unfinished in ${root}, with conflicts in ${listed(open)}. Nothing was merged.`;
    const refused = await commitAll(host, root, title);
    if (refused !== null) return `Its changes in ${root} could not be committed, and stay there: ${refused}`;
    const head = await commitOf(host, root, "HEAD");
    const base = await commitOf(host, repository, "HEAD");
    if (head === null || base === null) return `What is in ${root} could not be read, and stays there.`;
    const changed = names(await git(host, repository, ["diff", "--name-only", "-z", `${base}...${head}`]));
    if (changed.length === 0) {
      await this.#queues.post(host, repository, () => letGo(host, worktree));
      return (await isAncestor(host, repository, head, worktree.base))
        ? "It changed no file."
        : `Its changes are merged into ${repository}.`;
    }
    const branch = await this.#queues.post(host, repository, () => branchAt(host, worktree, head));
    const where = `They are committed on the branch ${branch}, at ${head.slice(0, 12)}, and not merged`;
    if (!mayMerge) return `It changed ${listed(changed)}. ${where}.`;
    const problem = await this.#queues.post(host, repository, async () => {
      const refusal = await merge(host, repository, head, title);
      if (refusal === null) await letGo(host, worktree);
      return refusal;
    });
    if (problem !== null)
      return `It changed ${listed(changed)}. ${where}: ${problem} Merge that branch yourself, or have the task go on with resume.`;
    return `Its changes are merged into ${repository}: ${listed(changed)}.`;
  }
}

/** Why it could not be merged; null when it was. The workspace is then as it was before. */
async function merge(host: Host, repository: string, head: string, title: string): Promise<string | null> {
  if (await hasOwnPrograms(host, repository))
    return "the repository's own configuration sends files through programs, which are not started here.";
  // A dry run that touches no file. An older git, which cannot do that, stops at the first conflict.
  const dryRun = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", "HEAD", head];
  const tried = await git(host, repository, dryRun);
  const [tree = "", ...conflicts] = tried.output.split("\0").filter((name) => name !== "");
  if (!tried.ok && /^[0-9a-f]{40,64}$/.test(tree)) return conflictIn(conflicts);
  const own = await identity(host, repository);
  const merging = ["merge", "--quiet", "--no-edit", "-m", `Merge the work of a task: ${title}`, head];
  const merged = await git(host, repository, merging, checkoutMs, own);
  if (merged.ok) return null;
  const open = names(await git(host, repository, ["diff", "--name-only", "--diff-filter=U", "-z"]));
  if (open.length > 0 && (await commitOf(host, repository, "MERGE_HEAD")) === head) {
    await git(host, repository, ["merge", "--abort"], checkoutMs);
    return conflictIn(open);
  }
  const inTheWay = [...merged.problem.matchAll(/^\t(.+)$/gm)].map(([, name]) => name!.trim());
  return inTheWay.length > 0
    ? `there are changes of your own that are not committed in ${listed(inTheWay)}.`
    : `${firstLine(merged.problem)}.`;
}

function conflictIn(files: readonly string[]): string {
  return `there are conflicts in ${listed(files)}.`;
}

/** Why not; null when all is committed. */
async function commitAll(host: Host, root: string, title: string): Promise<string | null> {
  const status = await git(host, root, ["status", "--porcelain"]);
  if (status.ok && status.output === "") return null;
  const added = await git(host, root, ["add", "--all"], checkoutMs);
  if (!added.ok) return firstLine(added.problem);
  if ((await git(host, root, ["diff", "--cached", "--quiet"])).ok) return null;
  const own = await identity(host, root);
  const committed = await git(host, root, ["commit", "--quiet", "-m", title], checkoutMs, own);
  return committed.ok ? null : firstLine(committed.problem);
}

/** What is merged needs its branch no more. The worktree stays for as long as the conversation of the task. */
async function letGo(host: Host, { repository, root, branch }: Worktree): Promise<void> {
  await git(host, root, ["checkout", "--quiet", "--detach"], checkoutMs);
  // Without force: a branch that has more than was merged stays.
  await git(host, repository, ["branch", "--quiet", "-d", branch]);
}

/** Settings for the committer, where the person has configured none. */
async function identity(host: Host, directory: string): Promise<string[]> {
  const known = await git(host, directory, ["config", "--get", "user.email"]);
  return known.ok ? [] : ["-c", "user.name=Convoke", "-c", "user.email=convoke@localhost"];
}

async function isAncestor(host: Host, repository: string, older: string, newer: string): Promise<boolean> {
  return (await git(host, repository, ["merge-base", "--is-ancestor", older, newer])).ok;
}

/** The branch that has this commit, also where the sub-agent left its own; nothing that is on a branch is taken from it. */
async function branchAt(host: Host, { repository, branch }: Worktree, head: string): Promise<string> {
  const at = await commitOf(host, repository, `refs/heads/${branch}`);
  if (at === head) return branch;
  const isOlder = at === null || (await isAncestor(host, repository, at, head));
  const name = isOlder ? branch : `${branch}-${head.slice(0, 12)}`;
  await git(host, repository, ["branch", "--quiet", "--force", name, head]);
  return name;
}

function names({ ok, output }: { readonly ok: boolean; readonly output: string }): string[] {
  return ok ? output.split("\0").filter((name) => name !== "") : [];
}

function listed(files: readonly string[]): string {
  const shown = files.slice(0, maxNames).map((name) => name.slice(0, 300).toWellFormed());
  const more = files.length > maxNames ? ` and ${files.length - maxNames} more` : "";
  return shown.join(", ") + more;
}

function firstLine(problem: string): string {
  return (problem.split("\n")[0] ?? "").slice(0, 300).toWellFormed() || "git gave no reason";
}
