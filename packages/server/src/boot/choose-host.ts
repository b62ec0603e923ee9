import { posix, resolve } from "node:path";
import type { ToolHost } from "@convoke/tool-host";
import type { Sandboxes } from "../app-conversations/sandbox-service.ts";
import { Fault } from "../lib/fault.ts";
import {
  processHost,
  type ChooseHost,
  type ConversationHost,
  type HostedConversation,
} from "../tools/conversation-host.ts";
import type { WalledHost, WallNetwork, Walls } from "../walls/wall.ts";
import type { RequireMachine } from "../workspaces/machine-policy.ts";

export type ChooseHostDeps = {
  /** In this process. */
  readonly toolHost: ToolHost;
  readonly sandboxes: Sandboxes | null;
  /** Null: conversations on this machine have no walls. */
  readonly walls: Walls | null;
  /** What a wall lets out unless the conversation says otherwise. */
  readonly network: WallNetwork;
  readonly requireMachine: RequireMachine;
  /** Relative working directories are below it. */
  readonly workspaceRoot: string;
};

/** Where the tools of conversations run: in their sandbox, behind their wall, or in this process. */
export class Hosts {
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
      return processHost(toolHost);
    }
    return this.#walled(conversation, wall);
  };

  /** The wall of a conversation on this machine; null when it has none. */
  async openWall({ id, ownerId, config }: HostedConversation): Promise<WalledHost | null> {
    const { walls, network, workspaceRoot, requireMachine } = this.#deps;
    if (walls === null || config.sandbox_id !== undefined) return null;
    const { conversation_id: rootId, working_dir: workingDir } = config.wall_of ?? {
      conversation_id: id,
      working_dir: config.workspace.working_dir,
    };
    const folder = resolve(workspaceRoot, workingDir);
    // A wall whose process is root holds back an agent, and not a stranger.
    if (await walls.isAsRoot(folder)) requireMachine(ownerId);
    return await walls.open({ rootId, ownerId, folder, network, hide: [] });
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
    const { toolHost } = this.#deps;
    const openHost = async (): Promise<ToolHost> => await wall.openHost();
    return {
      catalogue: wall.catalogue,
      kind: "wall",
      stateDir: wall.stateDir,
      openHost,
      adoptState: (sessionId, from) => wall.adoptState(sessionId, from),
      // The wall of a conversation stands around its worktree, which therefore is made before it. Those of sub-agents are made behind it.
      worktrees:
        config.wall_of === undefined
          ? { parentDir: null, openHost: async () => toolHost }
          : { parentDir: posix.join(wall.stateDir, "worktrees"), openHost },
    };
  }
}

export function sandboxesElsewhere(): Fault {
  return new Fault(
    "not-now",
    "sandboxes_not_served",
    "The conversation runs in a sandbox, and this server has none: they are switched off, or another server on the same data folder has them.",
  );
}
