import type { WallInfo } from "@convoke/protocol";
import type { ToolHost } from "@convoke/tool-host";
import type { ConversationConfig } from "../engine/conversation-config.ts";
import type { BeginCall } from "./call-notes.ts";
import type { RefusalsSince } from "./refusals-since.ts";

/** Where the tools of a conversation run. */
export type ConversationHost = {
  /** Names of its tools, sorted. */
  readonly catalogue: readonly string[];
  /**
   * `process`: in this process. `wall`: on this machine with the same paths, behind the conversation's wall. `sandbox`: elsewhere, with
   * paths of its own; it outlives this process.
   */
  readonly kind: "process" | "wall" | "sandbox";
  /** Absolute directory on the tool host's machine for the state of sessions; null: every conversation has its own folder. */
  readonly stateDir: string | null;
  /** Starts what is not running. Rejects with the reason where that is impossible now. */
  openHost(): Promise<ToolHost>;
  /** For `wall`: gives a session the state that it had without one, from this folder. */
  adoptState?(sessionId: string, from: string): Promise<void>;
  /** For `wall`: what was refused on the way out since a mark. */
  refusalsSince?: RefusalsSince;
  /** Why no command may start now, such as a full disk; null for nothing. Absent: never. */
  whyNoCommand?(): Promise<string | null>;
  /** For `wall`: what its agent has to know after a call. */
  beginCall?: BeginCall;
  /** Where worktrees of the conversation are made. */
  readonly worktrees: WorktreeHost;
};

export type WorktreeHost = {
  /** Absolute parent directory of the worktrees; null: that of this machine. */
  readonly parentDir: string | null;
  openHost(): Promise<ToolHost>;
};

/** A conversation, as it is or is about to be created. */
export type HostedConversation = {
  readonly id: string;
  readonly ownerId: string;
  readonly config: ConversationConfig;
};

/** Where the tools of a user's conversation run. Starts nothing. Rejects where they may not run, or cannot now. */
export type ChooseHost = (conversation: HostedConversation) => Promise<ConversationHost>;

/** What clients read about the wall of a conversation; null for one in a sandbox. */
export type DescribeWall = (config: ConversationConfig) => Promise<WallInfo | null>;

/** What a conversation may reach through its wall, as far as its agent may ask for more. */
export interface Grants {
  /** False where no answer of its user could widen the network: without a wall, with `none` or `all`, or where the server's policy bounds it; and for sub-agents. */
  canWiden(conversation: HostedConversation): boolean;
  /** Opens the way to the hosts that the configuration grants by now. Rejects where the wall cannot stand. */
  apply(conversation: HostedConversation): Promise<void>;
}

/** Where conversations work whose request names no folder. */
export interface DefaultPlace {
  /** Absolute. */
  defaultFolder(): Promise<string>;
  describeFolder(folder: string): Promise<WallInfo>;
}

/** A tool host in this process. */
export function processHost(
  toolHost: ToolHost,
  more: Pick<ConversationHost, "whyNoCommand"> = {},
): ConversationHost {
  const openHost = async (): Promise<ToolHost> => toolHost;
  return {
    ...more,
    catalogue: toolHost.catalogue,
    kind: "process",
    stateDir: null,
    openHost,
    worktrees: { parentDir: null, openHost },
  };
}
