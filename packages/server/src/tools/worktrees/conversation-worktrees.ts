import { join } from "node:path";
import type { ConversationWorktreeOptions } from "@convoke/protocol";
import type { Journal } from "../../journal/journal.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logger.ts";
import type { ConversationConfig } from "../../engine/conversation-config.ts";
import { readConfig } from "../../engine/read-config.ts";
import type { ChooseHost, ConversationHost } from "../conversation-host.ts";
import type { RepositoryQueues } from "./repository-queues.ts";
import { Worktrees } from "./worktrees.ts";
import type { Worktree } from "../../engine/worktree.ts";
import { itemsOfPages } from "../../lib/items-of-pages.ts";

export type ConversationWorktreesDeps = {
  readonly chooseHost: ChooseHost;
  /** Absolute; worktrees of conversations on this machine are below it. */
  readonly dataDir: string;
  readonly journal: Pick<Journal, "getConversation" | "searchConversations">;
  readonly folders: { workspaceDir(config: ConversationConfig): string };
  readonly clock: Clock;
  readonly logger: Logger;
  readonly repositories: RepositoryQueues;
};

type Order = {
  readonly id: string;
  readonly config: ConversationConfig;
  readonly worktree?: ConversationWorktreeOptions | null;
};

/** Gives conversations worktrees of their own, and takes those back that nobody works in any more. */
export class ConversationWorktrees {
  readonly #deps: ConversationWorktreesDeps;
  readonly #worktrees: Worktrees;

  constructor(deps: ConversationWorktreesDeps) {
    this.#deps = deps;
    this.#worktrees = new Worktrees(deps.logger, deps.repositories);
  }

  /** The configuration of a conversation that is about to be created, in a worktree if it asks for one and there can be one. */
  async prepare(
    { id, config, worktree: options = null }: Order,
    { kind, worktrees }: Pick<ConversationHost, "kind" | "worktrees">,
  ): Promise<ConversationConfig> {
    const { clock, journal, dataDir, folders } = this.#deps;
    if (options === null || (await journal.getConversation(id)) !== null) return config;
    const made = await this.#worktrees.make(await worktrees.openHost(), {
      conversationId: id,
      workingDir: kind === "sandbox" ? config.workspace.working_dir : folders.workspaceDir(config),
      parentDir: worktrees.parentDir ?? join(dataDir, "worktrees"),
      options,
      nowMicros: clock.nowMs() * 1000,
    });
    if (made.worktree === null) {
      const detail = `${made.reason} The conversation works in the folder itself.`;
      return { ...config, warnings: [...(config.warnings ?? []), { code: "worktree_unavailable", detail }] };
    }
    const workspace = { ...config.workspace, working_dir: made.workingDir };
    return { ...config, workspace, worktree: made.worktree };
  }

  /** After a conversation was deleted. Forks share the worktree of their source; it is removed with the last of them. Never rejects. */
  async release(id: string, ownerId: string, config: ConversationConfig | null): Promise<void> {
    const worktree = config?.worktree;
    if (config === null || worktree === undefined) return;
    try {
      if (await this.#isInUse(ownerId, worktree)) return;
      const { worktrees } = await this.#deps.chooseHost({ id, ownerId, config });
      await this.#worktrees.remove(await worktrees.openHost(), worktree);
    } catch (error) {
      // The conversation is gone all the same; what is left of its folder can be removed by hand.
      const fields = { worktree: worktree.root, error: String(error) };
      this.#deps.logger.warn(fields, "a worktree could not be removed");
    }
  }

  /** Only what was made after a worktree can be a fork that works in it. */
  async #isInUse(ownerId: string, { root, since }: Worktree): Promise<boolean> {
    const query = { ownerId, sort: "CREATED_AT_DESC", limit: 100 } as const;
    const { journal } = this.#deps;
    for await (const row of itemsOfPages((pageId) => journal.searchConversations({ ...query, pageId }))) {
      if (row.createdAtMicros < since) return false;
      if (readConfig(row)?.worktree?.root === root) return true;
    }
    return false;
  }
}
