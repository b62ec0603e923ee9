import type { Duplex } from "node:stream";
import type { LeftBehind, NetworkPolicy } from "@convoke/protocol";
import type { ToolHost } from "@convoke/tool-host";
import type { HostTotals, RefusalsSince } from "../egress/egress.ts";
import type { EgressPolicies } from "../egress/policy/egress-policy.ts";
import type { ControlGroups } from "../sandboxes/control-groups/control-groups.ts";

/** `docker`: a container of an image, of Docker or Podman. */
export type WallKind = "bubblewrap" | "docker";

/** A wall as a conversation needs it. */
export type WallOrder = {
  /** The conversation that owns the wall. Its sub-agents work in the same one. */
  readonly rootId: string;
  readonly ownerId: string;
  /** Absolute path of the working folder, which exists. */
  readonly folder: string;
  readonly kind: WallKind;
  readonly network: NetworkPolicy;
  /** The policies of server and user, where they bound the conversation's. */
  readonly limitedBy: EgressPolicies["limitedBy"];
  /** Hosts that the conversation may reach as well, as far as the limit does, written as in `allow`. */
  readonly granted: readonly string[];
  /** Names of files in the working folder that show empty inside. */
  readonly hide: readonly string[];
  /** Names at the top of the working folder that stay writable although programs of the person run or obey them. */
  readonly unlocked: readonly string[];
  /** Folders that show beside the working folder, at their own absolute paths. */
  readonly extraFolders: readonly { readonly path: string; readonly isWritable: boolean }[];
  /** The user's copies of plugins and skills from git, read-only; absent: there are none. */
  readonly copies?: CopiesInside;
};

/** One folder outside, and the paths at which it shows inside. */
export type CopiesInside = { readonly folder: string; readonly targets: readonly string[] };

/** The tools of a conversation behind its wall. Paths inside are the same as outside. */
export type WalledHost = {
  /** The names of its tools, sorted. */
  readonly catalogue: readonly string[];
  readonly isRunning: boolean;
  /** Starts the wall when it does not run. Rejects with a {@link Fault} that says why it cannot start. */
  openHost(): Promise<ToolHost>;
  /**
   * The same, and where it is certain whether the wall has tools of these names, without waiting for it: calls do. Never rejects then; see
   * {@link WalledHost.retryFailed}.
   */
  openEarly(tools: readonly string[]): Promise<ToolHost>;
  /** Starts it in the background, unless enough walls were started that nothing has used yet. */
  startAhead(): void;
  /** Starts it again where a start failed that nobody waited for. Rejects with the reason when that fails too. */
  retryFailed(): Promise<void>;
  /** Absolute directory, outside, of the private home; it need not be there yet. */
  readonly homeDir: string;
  /** Absolute directory, inside and outside, for the state of sessions. */
  readonly stateDir: string;
  /** Gives a session the state that it had without a wall, from this folder, unless it has its own by now. */
  adoptState(sessionId: string, from: string): Promise<void>;
  /** What was refused on the way out since a mark, in words for the agent; 0 for all. */
  refusalsSince(mark: number): RefusalsSince;
  /** What passed and was refused on the way out, by host and port. */
  totals(): readonly HostTotals[];
  /**
   * Called before a call. The function that it returns tells, after the call, what the agent has to know: that processes were ended because
   * memory was used up, and what was done since the last call. Neither rejects.
   */
  beginCall(): Promise<() => Promise<string>>;
  /** A byte stream to a TCP port inside; rejects with a reason. */
  connectPort(port: number): Promise<Duplex>;
};

/**
 * The walls of one server process: bubblewrap or a container around the tool host of each conversation that works on this machine. A wall has no record:
 * it starts at its first use, again after it ended, and ends with this process.
 */
export interface Walls extends AsyncDisposable {
  /** For people, one line. */
  readonly summary: string;
  /** Of conversations that ask for none. */
  readonly kind: WallKind;
  /** Rejects with a {@link Fault} that names the field when the folder cannot be walled. Its process starts at the first use. */
  open(order: WallOrder): Promise<WalledHost>;
  /** True for a folder that no wall can stand around. */
  isRefused(folder: string): Promise<boolean>;
  /** True where the tools of this folder run as root without capabilities, because the folder is root's. */
  isAsRoot(folder: string): Promise<boolean>;
  /** Searches the folder of a conversation now. Null for one that had no wall of this server yet. */
  findLeftBehind(rootId: string): Promise<LeftBehind | null>;
  /** How many files the last search found; null before the first one. Searches nothing. */
  countLeftBehind(rootId: string): number | null;
  /** How processes of walls are limited here. */
  limits(kind: WallKind): Promise<Pick<ControlGroups, "kind" | "detail">>;
  /** Walls whose process runs. */
  countRunning(): number;
  /** Ends the wall of a conversation and removes its private folders. */
  remove(rootId: string): Promise<void>;
}
