import { posix } from "node:path";
import type { ToolHost } from "@convoke/tool-host";
import { Mailboxes } from "../../lib/mailboxes.ts";
import { git } from "./worktree-git.ts";

type Host = Pick<ToolHost, "startProcess">;

/**
 * One queue for each repository of each machine. Git reads the entries of all worktrees whenever it adds or removes one and whenever
 * it moves a branch, and fails with one that another git has made by half; so these steps run one after another. All worktrees of a
 * repository have the same entries, and therefore the same queue.
 */
export class RepositoryQueues {
  readonly #queues = new WeakMap<Host, Mailboxes>();

  /** `worktree` is the top folder of any worktree of the repository, the first one included. */
  async post<Result>(host: Host, worktree: string, job: () => Promise<Result>): Promise<Result> {
    const ofHost = this.#queues.get(host) ?? new Mailboxes();
    this.#queues.set(host, ofHost);
    const common = await git(host, worktree, ["rev-parse", "--git-common-dir"]);
    const name = common.ok ? posix.resolve(worktree, common.output) : worktree;
    return await ofHost.post(name, job);
  }
}
