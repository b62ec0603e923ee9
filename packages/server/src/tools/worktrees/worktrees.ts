import { posix } from "node:path";
import type { ConversationWorktreeOptions } from "@convoke/protocol";
import type { ToolHost } from "@convoke/tool-host";
import { invalidField } from "../../lib/fault.ts";
import type { Logger } from "../../lib/logger.ts";
import type { RepositoryQueues } from "./repository-queues.ts";
import { runProgram, type ProgramEnd } from "./run-program.ts";
import { checkoutMs, git, readMs, commitOf } from "./worktree-git.ts";
import type { Worktree } from "../../engine/worktree.ts";

type Host = Pick<ToolHost, "startProcess">;

export type WorktreeOrder = {
  readonly conversationId: string;
  /** Absolute; somewhere in a repository. */
  readonly workingDir: string;
  /** Absolute folder on the host's machine; every conversation has one below it. */
  readonly parentDir: string;
  readonly options: ConversationWorktreeOptions;
  readonly nowMicros: number;
};

/** `workingDir` is the one of the order, in the worktree. */
export type MadeWorktree =
  | { readonly worktree: Worktree; readonly workingDir: string }
  | { readonly worktree: null; readonly reason: string };

/** Makes and removes worktrees where the tools of a conversation run. Nothing that the repository names is started, and nothing is fetched. */
export class Worktrees {
  readonly #logger: Logger;
  readonly #queues: RepositoryQueues;
  /** By conversation: the same one is often created several times at once. */
  readonly #making = new Map<string, Promise<MadeWorktree>>();

  constructor(logger: Logger, queues: RepositoryQueues) {
    this.#logger = logger;
    this.#queues = queues;
  }

  /** Null with a reason where there is nothing to begin a worktree from; a 422 for a `ref` or a name that git does not take. */
  async make(host: Host, order: WorktreeOrder): Promise<MadeWorktree> {
    const { conversationId: id } = order;
    const making = this.#making.get(id) ?? this.#make(host, order).finally(() => this.#making.delete(id));
    this.#making.set(id, making);
    return await making;
  }

  /** Takes a worktree away whose work is committed; the branch stays. What nobody has committed is not thrown away. */
  async remove(host: Host, { repository, root }: Worktree): Promise<void> {
    const removed = await this.#queues.post(host, repository, () => removeIn(host, repository, root));
    if (removed.ok) await runProgram(host, ["rmdir", posix.dirname(root)], readMs);
    else this.#logger.info({ worktree: root, reason: removed.problem }, "a worktree was kept");
  }

  async #make(host: Host, order: WorktreeOrder): Promise<MadeWorktree> {
    const { conversationId, workingDir, parentDir, options, nowMicros } = order;
    const top = await git(host, workingDir, ["rev-parse", "--show-toplevel"]);
    if (!top.ok || top.output === "")
      return { worktree: null, reason: `${workingDir} is in no git repository.` };
    const repository = top.output;
    const prefix = (await git(host, workingDir, ["rev-parse", "--show-prefix"])).output;
    const base = await findBase(host, repository, options);
    if (base === null) return { worktree: null, reason: `The repository ${repository} has no commit yet.` };
    const root = posix.join(parentDir, conversationId, posix.basename(repository));
    const branch = `${options.branch_prefix ?? "openhands/"}${conversationId}`;
    await this.#queues.post(host, repository, () => addUnlessThere(host, { repository, root, branch, base }));
    const inside = posix.join(root, prefix);
    await runProgram(host, ["mkdir", "-p", "--", inside], readMs);
    return {
      worktree: { repository, root, branch, base, since: nowMicros },
      workingDir: inside.replace(/\/$/, ""),
    };
  }
}

/** A worktree that an earlier try made is taken as it is, unless that try was cut off. */
async function addUnlessThere(
  host: Host,
  { repository, root, branch, base }: Pick<Worktree, "repository" | "root" | "branch" | "base">,
): Promise<void> {
  const there = await git(host, root, ["rev-parse", "--show-toplevel"]);
  const isThere = there.ok && there.output === root;
  if (isThere && !(await isHalf(host, root))) return;
  // Nobody has worked in one that was cut off: files are missing there, which would be taken for deleted ones.
  if (isThere) await git(host, repository, ["worktree", "remove", "--force", "--force", root], checkoutMs);
  // Only the entry of a folder that somebody has taken away: `prune` would take those that are being made.
  else await removeIn(host, repository, root);
  const add = async () => {
    const isOld = (await git(host, repository, ["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`]))
      .ok;
    const how = isOld ? [root, branch] : ["-b", branch, root, base];
    return await git(host, repository, ["worktree", "add", "--quiet", ...how], checkoutMs);
  };
  let added = await add();
  // A git that we did not start may add one at the same time, and git does not wait for itself. It may have made the branch by then.
  if (!added.ok) added = await add();
  if (added.ok) return;
  const msg = `The worktree could not be made: ${added.problem.slice(0, 500) || "git gave no reason"}`;
  throw invalidField(["body", "worktree"], msg);
}

/** Git locks a worktree, with this word, until all its files are there. */
async function isHalf(host: Host, root: string): Promise<boolean> {
  const lock = await git(host, root, ["rev-parse", "--git-path", "locked"]);
  const path = posix.resolve(root, lock.output);
  return lock.ok && (await runProgram(host, ["cat", "--", path], readMs)).output === "initializing";
}

async function removeIn(host: Host, repository: string, root: string): Promise<ProgramEnd> {
  return await git(host, repository, ["worktree", "remove", root], checkoutMs);
}

/** Where a branch begins: what `origin` calls its default, as far as it is known here, else what most repositories call theirs. */
async function findBase(
  host: Host,
  repository: string,
  { base = "default_branch", ref = null }: ConversationWorktreeOptions,
): Promise<string | null> {
  const names = base === "head" ? ["HEAD"] : base === "ref" ? [ref ?? "", `origin/${ref ?? ""}`] : usual;
  for (const name of names.filter((given) => given !== "")) {
    const found = await commitOf(host, repository, name);
    if (found !== null) return found;
  }
  if (base !== "ref") return null;
  throw invalidField(
    ["body", "worktree_options", "ref"],
    `The repository has no commit called "${ref ?? ""}".`,
  );
}

const usual = [
  "refs/remotes/origin/HEAD",
  "refs/remotes/origin/main",
  "refs/remotes/origin/master",
  "refs/heads/main",
  "refs/heads/master",
  "HEAD",
];
