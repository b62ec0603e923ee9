import type { ConversationWorktreeOptions } from "@convoke/protocol";
import type { ConversationConfig, ConversationSecrets } from "./conversation-config.ts";

/** Who asks the directory: conversations of other users do not exist for them. */
export type Asker = { readonly userId: string };

export type CreateInput = {
  readonly id: string;
  readonly title: string | null;
  readonly config: ConversationConfig;
  readonly secrets: ConversationSecrets;
  /** Its own git worktree of the repository of its working directory; that directory itself without. */
  readonly worktree?: ConversationWorktreeOptions | null;
  /** Of a conversation that the app starts in a sandbox: its facts, see `NewConversation`, and when its start was asked for. */
  readonly app?: { readonly facts: string; readonly createdAtMs: number } | null;
};
