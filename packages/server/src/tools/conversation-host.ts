import type { ToolHost } from "@convoke/tool-host";
import type { ConversationConfig } from "../engine/conversation-config.ts";

export type ConversationHost = {
  readonly toolHost: ToolHost;
  /** Absolute directory on the tool host's machine for the state of sessions; null for this machine, where every conversation has its own. */
  readonly stateDir: string | null;
};

/** Where the tools of a user's conversation run. Rejects where they may not run, or cannot now. */
export type ChooseHost = (config: ConversationConfig, ownerId: string) => Promise<ConversationHost>;
