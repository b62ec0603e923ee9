import type { ConversationWorktreeOptions } from "@convoke/protocol";
import type { ConversationConfig, ConversationSecrets } from "./conversation-config.ts";

/** The caller of the directory; conversations of other users do not exist for it. */
export type Asker = {
  readonly userId: string;
  /** The only conversation that there is for the one who asks. */
  readonly onlyConversation?: string | undefined;
};

export type CreateInput = {
  readonly id: string;
  readonly title: string | null;
  readonly config: ConversationConfig;
  readonly secrets: ConversationSecrets;
  /**
   * Creates a git worktree of the working directory's repository; without it the agent works in the directory
   * itself.
   */
  readonly worktree?: ConversationWorktreeOptions | null;
  /**
   * For a conversation that the app starts in a sandbox: its facts, see `NewConversation`, and the time of the
   * request.
   */
  readonly app?: { readonly facts: string; readonly createdAtMs: number } | null;
};
