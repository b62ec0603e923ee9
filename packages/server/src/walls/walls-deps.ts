import type { BoundSecretRegistry } from "../egress/bound-secret-registry.ts";
import type { EgressOptions, EgressRecord } from "../egress/egress.ts";
import type { SharedTrust } from "../egress/way-out.ts";
import type { Logger } from "../lib/logger.ts";
import type { ControlGroups } from "../sandboxes/control-groups/control-groups.ts";
import type { Account } from "../sandboxes/sandbox-directory.ts";
import type { GitPlaces } from "./git-places.ts";
import type { LeftBehindFiles } from "./left-behind.ts";
import type { KnownTools } from "./known-tools.ts";
import type { HomeLimits, PrivateHomes } from "./private-homes.ts";
import type { WallContainers } from "./wall-containers.ts";
import type { WallKind, WallOrder } from "./wall.ts";
import type { UserPlaces, UserPlacesDeps } from "./user-places.ts";
import type { WallPlaces } from "./wall-places.ts";
import type { ToolHostProgram } from "../sandboxes/tool-host-program.ts";

/** Ways to hosts: their addresses, connections to these, and which certificates are trusted. */
export type Outside = Required<Pick<EgressOptions, "resolve" | "connect" | "upstreamTrust">>;

/** What may be used inside one wall. */
export type WallLimits = {
  /** Null: three quarters of the machine's, where all processes are limited together. */
  readonly memoryMb: number | null;
  /** Processors; may be a fraction; null: all of them. */
  readonly cpus: number | null;
  /** Processes and threads. */
  readonly pids: number;
};

/** What the walls of one server work with. */
export type StartedWallsDeps = {
  /** Absolute. */
  readonly dataDir: string;
  readonly program: ToolHostProgram;
  /** The names of the tools of that program, sorted. */
  readonly catalogue: readonly string[];
  /** The server's environment. Only language, time zone and the places of programs are read from it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly self: Account;
  readonly logger: Logger;
  /** True for an address and port at which this server listens. */
  readonly isOwnListener: (address: string, port: number) => boolean;
  /** Secrets that the walls put into requests. */
  readonly boundSecrets: Pick<BoundSecretRegistry, "ofWall" | "watch">;
  /** Called for everything that passed or was refused on the way out of a conversation's wall. Must not throw. */
  readonly onEgress: (conversationId: string, record: EgressRecord) => void;
  /** How the hosts of the network are reached; as this machine does unless given. */
  readonly outside?: Outside | undefined;
  readonly limits: WallLimits;
  readonly homes: HomeLimits;
  /** Counts a wall of a user that is about to run, or answers with the user's quota that is reached; null for one without a limit. */
  readonly takeHold: UserPlacesDeps["take"];
  /** How many walls run at one time. */
  readonly maxRunning: number;
  /** How long a wall waits for another one to end, in milliseconds; 20 seconds unless given. */
  readonly placeWaitMs?: number;
  /** Of conversations that ask for none. Where it is `docker`, there are none of bubblewrap. */
  readonly kind: WallKind;
  readonly containers: WallContainers;
  /** Finds out how the processes of a wall can be limited together here; asked once. */
  readonly openControlGroups: () => Promise<ControlGroups>;
  /** Milliseconds after its last use at which a wall ends; ten minutes unless given. */
  readonly idleMs?: number;
};

/** What one wall works with. */
export type ConversationWallDeps = StartedWallsDeps & {
  readonly order: WallOrder;
  /** The working folder without links. */
  readonly folder: string;
  /** Without links too. */
  readonly extraFolders: WallOrder["extraFolders"];
  /** Folder of this wall for its sockets and its log. */
  readonly root: string;
  /** The private home, kept for the owner and the folder. */
  readonly home: string;
  /** For the state of sessions. */
  readonly state: string;
  readonly leftBehind: Pick<LeftBehindFiles, "begin">;
  readonly gitPlaces: GitPlaces;
  readonly knownTools: KnownTools;
  readonly trust: SharedTrust;
  readonly groups: Promise<ControlGroups>;
  readonly places: WallPlaces;
  readonly userPlaces: UserPlaces;
  /** Walls that were started ahead of their use, which has not come yet. */
  readonly startedAhead: Set<object>;
  readonly privateHomes: PrivateHomes;
  /** Called when nothing has used it for a while; by then all of it has ended. */
  readonly onRest: () => void;
};
