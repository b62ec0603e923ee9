import { join, posix, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { NetworkPolicy, WallInfo } from "@convoke/protocol";
import type { ToolHost } from "@convoke/tool-host";
import type { Sandboxes } from "../app-conversations/sandbox-service.ts";
import type { ConversationConfig } from "../engine/conversation-config.ts";
import { compilePolicy } from "../egress/policy/compiled-policy.ts";
import { Fault, invalidField } from "../lib/fault.ts";
import {
  processHost,
  type ChooseHost,
  type ConversationHost,
  type DefaultPlace,
  type DescribeWall,
  type Grants,
  type HostedConversation,
} from "../tools/conversation-host.ts";
import type { WalledHost, Walls } from "../walls/wall.ts";
import type { DiskWatch } from "../workspaces/disk-watch.ts";
import type { RequireMachine } from "../workspaces/machine-policy.ts";

export type ChooseHostDeps = {
  /** In this process. */
  readonly toolHost: ToolHost;
  readonly sandboxes: Sandboxes | null;
  /** Null: conversations on this machine have no walls. */
  readonly walls: Walls | null;
  /** What a wall lets out unless the conversation says otherwise. */
  readonly network: NetworkPolicy;
  readonly requireMachine: RequireMachine;
  readonly disk: DiskWatch;
  /** Who may do without a wall. */
  readonly isMachineUser: (userId: string) => boolean;
  /** Relative working directories are below it. */
  readonly workspaceRoot: string;
  /** Of the server's user; null when there is none. */
  readonly home: string | null;
};

/** Where the tools of conversations run: in their sandbox, behind their wall, or in this process. */
export class Hosts implements DefaultPlace {
  readonly #deps: ChooseHostDeps;

  constructor(deps: ChooseHostDeps) {
    this.#deps = deps;
  }

  readonly choose: ChooseHost = async (conversation) => {
    const { toolHost, requireMachine } = this.#deps;
    if (conversation.config.sandbox_id !== undefined)
      return await this.#sandbox(conversation.config.sandbox_id);
    const wall = await this.openWall(conversation);
    if (wall === null) {
      requireMachine(conversation.ownerId);
      const folder = this.#folderOf(conversation.config);
      return processHost(toolHost, { whyNoCommand: () => this.#deps.disk.whyFull([folder]) });
    }
    return this.#walled(conversation, wall);
  };

  readonly describe: DescribeWall = async (config) => {
    return config.sandbox_id === undefined
      ? await this.describeFolder(this.#folderOf(config), config.wall)
      : null;
  };

  readonly grants: Grants = {
    canWiden: ({ ownerId, config }) => {
      const { isOff, network } = this.#settings(config.wall);
      if (this.#deps.walls === null || config.sandbox_id !== undefined || isOff) return false;
      // Nobody may be watching what a sub-agent waits for; the agent that it works for can ask for both.
      if (config.wall_of !== undefined) return false;
      if (network === "none" || network === "all") return false;
      return this.#deps.isMachineUser(ownerId) || !isDeepStrictEqual(network, this.#deps.network);
    },
    apply: async (conversation) => void (await this.openWall(conversation)),
  };

  async describeFolder(folder: string, wall?: ConversationConfig["wall"]): Promise<WallInfo> {
    const { walls } = this.#deps;
    const { isOff, network, hide, granted } = this.#settings(wall);
    if (walls === null || isOff) return { kind: "none", network: "all", as_root: false };
    const [isAsRoot, { kind: limits }] = await Promise.all([walls.isAsRoot(folder), walls.limits()]);
    const hidden = hide.length === 0 ? {} : { hide: [...hide] };
    const more = granted.length === 0 ? {} : { granted: [...granted] };
    return { kind: "bubblewrap", network, as_root: isAsRoot, limits, ...hidden, ...more };
  }

  /** The folder that the server was started in, or one in the home where no wall could stand around that. */
  async defaultFolder(): Promise<string> {
    const { walls, workspaceRoot, home } = this.#deps;
    if (walls === null || home === null || !(await walls.isRefused(workspaceRoot))) return workspaceRoot;
    return join(home, "convoke");
  }

  /** The wall of a conversation on this machine; null when it has none. Throws a Fault for a request that its user may not have. */
  async openWall({ id, ownerId, config }: HostedConversation): Promise<WalledHost | null> {
    const { walls, requireMachine, isMachineUser } = this.#deps;
    if (config.sandbox_id !== undefined) return null;
    const { isOff, network, hide, granted } = this.#settings(config.wall);
    if (walls === null) {
      if (config.wall?.kind === "bubblewrap" || config.wall?.network !== undefined || hide.length > 0)
        throw wallsAreOff();
      return null;
    }
    const isTrusted = isMachineUser(ownerId);
    if (isOff && !isTrusted) throw wallRefused();
    if (isOff) return null;
    compilePolicy(network, [], ["body", "wall", "network"]);
    const folder = this.#folderOf(config);
    // A wall whose process is root stops an agent, and not a stranger.
    if (await walls.isAsRoot(folder)) requireMachine(ownerId);
    const rootId = config.wall_of?.conversation_id ?? id;
    const limit = isTrusted ? null : this.#deps.network;
    return await walls.open({ rootId, ownerId, folder, network, limit, granted, hide });
  }

  #settings(wall: NonNullable<ConversationConfig["wall"]> = {}) {
    const { kind, network = this.#deps.network, hide = [], granted = [] } = wall;
    return { isOff: kind === "off", network, hide, granted };
  }

  #folderOf({ wall_of: other, workspace }: ConversationConfig): string {
    return resolve(this.#deps.workspaceRoot, other?.working_dir ?? workspace.working_dir);
  }

  async #sandbox(sandboxId: string): Promise<ConversationHost> {
    const { sandboxes } = this.#deps;
    if (sandboxes === null) throw sandboxesElsewhere();
    const { toolHost, stateDir } = await sandboxes.openHost(sandboxId);
    const openHost = async (): Promise<ToolHost> => toolHost;
    const worktrees = { parentDir: posix.join(stateDir, "worktrees"), openHost };
    return { catalogue: toolHost.catalogue, kind: "sandbox", stateDir, openHost, worktrees };
  }

  #walled({ config }: HostedConversation, wall: WalledHost): ConversationHost {
    const { toolHost, disk } = this.#deps;
    const openHost = async (): Promise<ToolHost> => await wall.openHost();
    return {
      catalogue: wall.catalogue,
      kind: "wall",
      stateDir: wall.stateDir,
      openHost,
      refusalsSince: (mark) => wall.refusalsSince(mark),
      beginCall: () => wall.beginCall(),
      whyNoCommand: () => disk.whyFull([this.#folderOf(config), wall.homeDir]),
      adoptState: (sessionId, from) => wall.adoptState(sessionId, from),
      // The wall of a conversation stands around its worktree, which therefore is made before it. Those of sub-agents are made behind it.
      worktrees:
        config.wall_of === undefined
          ? { parentDir: null, openHost: async () => toolHost }
          : { parentDir: posix.join(wall.stateDir, "worktrees"), openHost },
    };
  }
}

function wallsAreOff(): Fault {
  return invalidField(
    ["body", "wall"],
    "This server has no walls (CONVOKE_WALL=off). Leave the field out, or start the server with one.",
  );
}

function wallRefused(): Fault {
  return new Fault(
    "refused",
    "machine_refused",
    "Your key may not use the server's machine without its wall. Leave wall.kind out.",
  );
}

export function sandboxesElsewhere(): Fault {
  return new Fault(
    "not-now",
    "sandboxes_not_served",
    "The conversation runs in a sandbox, and this server has none: they are switched off, or another server on the same data folder has them.",
  );
}
