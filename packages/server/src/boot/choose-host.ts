import { randomUUID } from "node:crypto";
import { dirname, join, posix, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { LeftBehind, NetworkPolicy, WallInfo } from "@convoke/protocol";
import type { ToolHost } from "@convoke/tool-host";
import type { ConversationConfig } from "../engine/conversation-config.ts";
import type { HostTotals } from "../egress/egress.ts";
import { compilePolicy } from "../egress/policy/compiled-policy.ts";
import type { FaceDeps } from "../faces/face-deps.ts";
import { describeError } from "../lib/describe-error.ts";
import { makeDirectory } from "../lib/make-directory.ts";
import {
  processHost,
  type ChooseHost,
  type ConversationHost,
  type DefaultPlace,
  type DescribeWall,
  type Grants,
  type HostedConversation,
  type NetworkTotals,
  type PassingPlace,
  type PlaceInPassing,
} from "../tools/conversation-host.ts";
import type { Policy } from "../settings/policy-store.ts";
import type { WalledHost, WallOrder, Walls } from "../walls/wall.ts";
import type { DiskWatch } from "../workspaces/disk-watch.ts";
import { giveToParentsOwner } from "../workspaces/owned-files.ts";
import { SandboxHosts, type SandboxHostsDeps } from "./sandbox-hosts.ts";
import {
  belowLeastWall,
  checkUnlocked,
  needsWall,
  noWallAround,
  readWall,
  wallRefused,
  wallsAreOff,
} from "./read-wall.ts";

/** What users fetched from git, on this machine. */
export interface UserCopies {
  /** Where all copies of a user are; makes the folder. */
  make(userId: string): Promise<string>;
  /** Writes a copy unless it is there; null when the user has none of this digest. */
  folderOf(userId: string, digest: string): Promise<string | null>;
}

export type ChooseHostDeps = SandboxHostsDeps &
  Pick<FaceDeps, "toolHost" | "requireMachine" | "workspaceRoot" | "logger"> & {
    /** Null: conversations on this machine have no walls. */
    readonly walls: Walls | null;
    /** What a wall lets out unless the conversation says otherwise. */
    readonly network: NetworkPolicy;
    readonly copies: UserCopies;
    readonly disk: DiskWatch;
    /** Who may do without a wall, and widen what one or a sandbox reaches. */
    readonly isMachineUser: (userId: string) => boolean;
    /** What a user may have at most. */
    readonly policyOf: (userId: string) => Policy;
    /** Of the server's user; null when there is none. */
    readonly home: string | null;
  };

/** Where the tools of conversations run: in their sandbox, behind their wall, or in this process. */
export class Hosts implements DefaultPlace, NetworkTotals, PassingPlace {
  readonly sandboxes: SandboxHosts;
  readonly #deps: ChooseHostDeps;

  constructor(deps: ChooseHostDeps) {
    this.#deps = deps;
    this.sandboxes = new SandboxHosts(deps);
  }

  readonly choose: ChooseHost = async (conversation) => {
    const { toolHost, requireMachine } = this.#deps;
    const { sandbox_id: sandboxId } = conversation.config;
    if (sandboxId !== undefined) return await this.sandboxes.choose(conversation, sandboxId);
    const wall = await this.openWall(conversation);
    if (wall === null) {
      requireMachine(conversation.ownerId);
      await this.#writeCopies(conversation);
      const folder = this.#folderOf(conversation.config);
      return processHost(toolHost, { whyNoCommand: () => this.#deps.disk.whyFull([folder]) });
    }
    return this.#walled(conversation, wall);
  };

  readonly describe: DescribeWall = async (config, id) => {
    if (config.sandbox_id !== undefined) return null;
    const wall = await this.describeFolder(this.#folderOf(config), config.wall);
    const count = this.#deps.walls?.countLeftBehind(rootOf({ id, config })) ?? null;
    return count === null ? wall : { ...wall, left_behind: count };
  };

  readonly grants: Grants = {
    canWiden: ({ ownerId, config }) => {
      // Nobody may be watching what a sub-agent waits for; the agent that it works for can ask for both.
      if (config.wall_of !== undefined) return false;
      if (config.sandbox_id !== undefined) return this.sandboxes.canWiden(ownerId, config.sandbox_id);
      const { isOff, network } = readWall(config.wall, this.#deps.network);
      if (this.#deps.walls === null || isOff) return false;
      if (network === "none" || network === "all") return false;
      return this.#deps.isMachineUser(ownerId) || !isDeepStrictEqual(network, this.#deps.network);
    },
    apply: async (conversation) => {
      const { sandbox_id: sandboxId } = conversation.config;
      if (sandboxId === undefined) await this.openWall(conversation);
      else await this.sandboxes.grant(conversation, sandboxId);
    },
  };

  async describeFolder(folder: string, wall?: ConversationConfig["wall"]): Promise<WallInfo> {
    const { walls } = this.#deps;
    const { isOff, kind, network, hide, granted, unlocked, extra } = readWall(wall, this.#deps.network);
    if (walls === null || isOff) return { kind: "none", network: "all", as_root: false };
    const shown = kind ?? walls.kind;
    const [isAsRoot, { kind: limits }] = await Promise.all([walls.isAsRoot(folder), walls.limits(shown)]);
    const lists = Object.entries({ hide, granted, unlocked, extra_folders: extra });
    const present = Object.fromEntries(lists.filter(([, list]) => list.length > 0));
    return { kind: shown, network, as_root: isAsRoot, limits, ...present };
  }

  /** The folder that the server was started in, or one in the home where no wall could stand around that. */
  async defaultFolder(): Promise<string> {
    const { walls, workspaceRoot, home } = this.#deps;
    if (walls === null || home === null || !(await walls.isRefused(workspaceRoot))) return workspaceRoot;
    return join(home, "convoke");
  }

  async inPassing<Result>(userId: string, work: (place: PlaceInPassing) => Promise<Result>): Promise<Result> {
    const { walls, requireMachine, network, toolHost, workspaceRoot, policyOf } = this.#deps;
    const { least_wall: least = "none" } = policyOf(userId);
    if (walls === null) {
      requireMachine(userId);
      if (least !== "none") throw belowLeastWall("this server has no walls");
      return await work({ toolHost, folder: workspaceRoot, isWalled: false });
    }
    const folder = await this.defaultFolder();
    await this.#checkRoot(walls, folder, userId);
    await makeDirectory(folder, 0o777, giveToParentsOwner);
    const rootId = `passing-${randomUUID()}`;
    const limitedBy = this.#limitsOf(userId);
    const order = { rootId, ownerId: userId, folder, kind: walls.kind, network, limitedBy };
    const wall = await walls.open({ ...order, granted: [], hide: [], unlocked: [], extraFolders: [] });
    try {
      return await work({ toolHost: await wall.openHost(), folder, isWalled: true });
    } finally {
      await walls.remove(rootId);
    }
  }

  /** The wall of a conversation on this machine; null when it has none. Throws a Fault for a request that its user may not have. */
  async openWall({ id, ownerId, config }: HostedConversation): Promise<WalledHost | null> {
    const { walls, isMachineUser, policyOf } = this.#deps;
    if (config.sandbox_id !== undefined) return null;
    const { isOff, kind, network, hide, granted, unlocked, extra } = readWall(
      config.wall,
      this.#deps.network,
    );
    const { least_wall: least = "none", may_turn_off: mayTurnOff = true } = policyOf(ownerId);
    if (walls === null) {
      if (needsWall(config.wall)) throw wallsAreOff();
      if (least !== "none") throw belowLeastWall("this server has no walls");
      return null;
    }
    const isTrusted = isMachineUser(ownerId);
    if (isOff && !isTrusted) throw wallRefused("without its wall. Leave wall.kind out.");
    if (isOff && (!mayTurnOff || least !== "none"))
      throw belowLeastWall("the request turns the wall off (wall.kind)");
    if (extra.length > 0 && !isTrusted)
      throw wallRefused("beside the working folder. Leave wall.extra_folders out.");
    if (isOff) return null;
    compilePolicy(network, [], ["body", "wall", "network"]);
    const folder = this.#folderOf(config);
    await this.#checkRoot(walls, folder, ownerId);
    const rootId = rootOf({ id, config });
    const extraFolders = extra.map(({ path, mode }) => ({ path, isWritable: mode === "rw" }));
    return await walls.open({
      rootId,
      ownerId,
      folder,
      kind: kind ?? walls.kind,
      network,
      limitedBy: this.#limitsOf(ownerId),
      granted,
      hide,
      unlocked: checkUnlocked(unlocked),
      extraFolders,
      copies: await this.#copiesInside({ ownerId, config }),
    });
  }

  /** A wall whose process is root stops an agent, and not a stranger. */
  async #checkRoot(walls: Walls, folder: string, userId: string): Promise<void> {
    const { requireMachine, policyOf } = this.#deps;
    if (!(await walls.isAsRoot(folder))) return;
    requireMachine(userId);
    if (policyOf(userId).least_wall === "bubblewrap")
      throw belowLeastWall("the folder is root's, and so is the process of its wall");
  }

  /** Plugins of the conversation that were fetched from git are written at this node; those that were removed are left out. */
  async #writeCopies({ ownerId, config }: Pick<HostedConversation, "ownerId" | "config">): Promise<void> {
    for (const { digest } of config.joined_plugins ?? [])
      if (digest !== null) await this.#deps.copies.folderOf(ownerId, digest);
  }

  /** Inside they show where the node had them at which they joined. */
  async #copiesInside(
    place: Pick<HostedConversation, "ownerId" | "config">,
  ): Promise<NonNullable<WallOrder["copies"]>> {
    await this.#writeCopies(place);
    const folder = await this.#deps.copies.make(place.ownerId);
    const roots = (place.config.joined_plugins ?? []).filter(({ digest }) => digest !== null);
    // A root is the copy's one folder, below the folder of its digest.
    return { folder, targets: [...new Set([folder, ...roots.map(({ root }) => dirname(dirname(root)))])] };
  }

  async findLeftBehind(conversation: HostedConversation): Promise<LeftBehind> {
    const wall = await this.openWall(conversation);
    const found = wall === null ? null : await this.#deps.walls?.findLeftBehind(rootOf(conversation));
    if (!found) throw noWallAround(conversation.id);
    return found;
  }

  /** After a run, so that its end can be told with what it has left; never rejects. */
  readonly findAfterRun = (conversationId: string): void => {
    const { walls, logger } = this.#deps;
    walls?.findLeftBehind(conversationId).catch((error: unknown) => {
      const fields = { conversation: conversationId, error: describeError(error) };
      logger.warn(fields, "the folder of a conversation could not be searched after its run");
    });
  };

  /** The policies that bound the network of a user's conversations. */
  #limitsOf(userId: string): WallOrder["limitedBy"] {
    const { isMachineUser, network, policyOf } = this.#deps;
    const { max_network: max } = policyOf(userId);
    return [
      ...(isMachineUser(userId) ? [] : [{ source: "server", policy: network } as const]),
      ...(max === undefined ? [] : [{ source: "user", policy: max } as const]),
    ];
  }

  #folderOf({ wall_of: other, workspace }: ConversationConfig): string {
    return resolve(this.#deps.workspaceRoot, other?.working_dir ?? workspace.working_dir);
  }

  async totalsOf(conversation: HostedConversation): Promise<readonly HostTotals[]> {
    const { sandbox_id: sandboxId } = conversation.config;
    if (sandboxId !== undefined) return await this.sandboxes.totals(sandboxId);
    return (await this.openWall(conversation))?.totals() ?? [];
  }

  #walled({ config }: HostedConversation, wall: WalledHost): ConversationHost {
    const { toolHost, disk } = this.#deps;
    const openHost = async (): Promise<ToolHost> => await wall.openHost();
    return {
      catalogue: wall.catalogue,
      kind: "wall",
      putsSecretsIn: readWall(config.wall, this.#deps.network).network !== "none",
      stateDir: wall.stateDir,
      openHost,
      openEarly: (tools) => wall.openEarly(tools),
      startAhead: () => wall.startAhead(),
      retryFailed: () => wall.retryFailed(),
      refusalsSince: async (mark) => wall.refusalsSince(mark),
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

/** The conversation that owns the wall. */
function rootOf({ id, config }: Pick<HostedConversation, "id" | "config">): string {
  return config.wall_of?.conversation_id ?? id;
}
