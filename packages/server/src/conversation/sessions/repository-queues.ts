import type { ToolHost } from "@convoke/tool-host";
import { Mailbox } from "../../lib/mailbox.ts";

type Host = Pick<ToolHost, "startProcess">;

/**
 * One queue for each repository of each machine. Git reads the entries of all worktrees whenever it adds or removes one and whenever
 * it moves a branch, and fails with one that another git has made by half; so these steps run one after another.
 */
export class RepositoryQueues {
  readonly #queues = new WeakMap<Host, Map<string, Mailbox>>();

  async post<Result>(host: Host, repository: string, job: () => Promise<Result>): Promise<Result> {
    const ofHost = this.#queues.get(host) ?? new Map<string, Mailbox>();
    this.#queues.set(host, ofHost);
    const queue = ofHost.get(repository) ?? new Mailbox();
    ofHost.set(repository, queue);
    return await queue.post(job);
  }
}
