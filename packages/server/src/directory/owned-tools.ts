import type { ConversationConfig } from "../engine/conversation-config.ts";
import type { Tools } from "../engine/ports.ts";
import type { HookGate, HookSurroundings } from "../engine/hook-gate.ts";
import type { SessionContext } from "../engine/session-context.ts";
import type { ToolBelt } from "../engine/tool-belt.ts";
import type { ConversationSessions, SessionOwner } from "../tools/conversation-sessions.ts";
import { openHooks } from "../tools/open-hooks.ts";
import type { DirectoryDeps } from "./directory-deps.ts";

export type OwnedToolsDeps = Pick<DirectoryDeps, "chooseHost" | "cluster"> & {
  readonly sessions: ConversationSessions;
};

/** The tools of one conversation, on the host that its owner may use. */
export class OwnedTools implements Tools {
  readonly #deps: OwnedToolsDeps;
  readonly #owner: SessionOwner;

  constructor(deps: OwnedToolsDeps, owner: SessionOwner) {
    this.#deps = deps;
    this.#owner = owner;
  }

  async openSession(config: ConversationConfig, context: SessionContext): Promise<ToolBelt> {
    return await this.#deps.sessions.open(this.#owner, config, context);
  }

  openHooks(config: ConversationConfig, surroundings: HookSurroundings): HookGate | null {
    const { chooseHost, cluster } = this.#deps;
    const { id, ownerId } = this.#owner;
    const isHere = config.sandbox_id === undefined;
    return openHooks(config, {
      ...surroundings,
      conversationId: id,
      workingDir: isHere ? this.workspaceDir(config) : config.workspace.working_dir,
      place: {
        openHost: async () => await (await chooseHost({ id, ownerId, config })).openHost(),
        beforeStart: async (signal) => await cluster?.untilSound(signal),
      },
    });
  }

  workspaceDir(config: ConversationConfig): string {
    return this.#deps.sessions.workspaceDir(config);
  }
}
