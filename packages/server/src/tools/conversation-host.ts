import type { LeftBehind, WallInfo } from "@convoke/protocol";
import type { ToolHost } from "@convoke/tool-host";
import type { HostTotals } from "../egress/egress.ts";
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
  /** For `wall`: the same without waiting for it, where it is certain which of these tools it has; see `WalledHost`. */
  openEarly?(tools: readonly string[]): Promise<ToolHost>;
  /** For `wall`: starts it in the background, unless enough were started for conversations that have not used theirs yet. */
  startAhead?(): void;
  /** For `wall`: see `WalledHost`. */
  retryFailed?(): Promise<void>;
  /** Whether a proxy puts secrets that are bound to hosts into requests of the tools. */
  readonly putsSecretsIn: boolean;
  /** For `wall`: gives a session the state that it had without one, from this folder. */
  adoptState?(sessionId: string, from: string): Promise<void>;
  /** Where the server's proxy is the way out: what was refused there since a mark. Never rejects. */
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

/** What clients read about the wall of a conversation with this id; null for one in a sandbox. */
export type DescribeWall = (config: ConversationConfig, id: string) => Promise<WallInfo | null>;

/** What a conversation may reach through the server's proxy, as far as its agent may ask for more. */
export interface Grants {
  /** False where no answer of its user could widen the network: without the proxy, with `none` or `all`, or where the server's policy bounds it; and for sub-agents. */
  canWiden(conversation: HostedConversation): boolean;
  /** Opens the way to the hosts that the configuration grants by now. Rejects where there is none now. */
  apply(conversation: HostedConversation): Promise<void>;
}

/** What went out of the walls and sandboxes of conversations. */
export interface NetworkTotals {
  /** By host and port, since the way out was opened; empty where there is none. */
  totalsOf(conversation: HostedConversation): Promise<readonly HostTotals[]>;
}

/** Where conversations work whose request names no folder. */
export interface DefaultPlace {
  /** Absolute. */
  defaultFolder(): Promise<string>;
  describeFolder(folder: string): Promise<WallInfo>;
  /** What the agent of a conversation has left that programs of its person would run later. Throws a Fault where it has no wall. */
  findLeftBehind(conversation: HostedConversation): Promise<LeftBehind>;
}

export type PlaceInPassing = {
  readonly toolHost: ToolHost;
  /** Absolute. */
  readonly folder: string;
  /** The tools see the folder and programs, and nothing else of the machine. */
  readonly isWalled: boolean;
};

/** Where programs run that belong to no conversation. */
export interface PassingPlace {
  /**
   * Calls `work` with tools as a conversation of this user would have them that names no folder, and ends them afterwards. Rejects where the
   * user may not have them.
   */
  inPassing<Result>(userId: string, work: (place: PlaceInPassing) => Promise<Result>): Promise<Result>;
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
    putsSecretsIn: false,
    openHost,
    worktrees: { parentDir: null, openHost },
  };
}
