import { posix } from "node:path";
import type { NetworkPolicy } from "@convoke/protocol";
import type { ToolHost } from "@convoke/tool-host";
import type { Sandboxes } from "../app-conversations/sandbox-service.ts";
import type { HostTotals } from "../egress/egress.ts";
import type { ConversationConfig } from "../engine/conversation-config.ts";
import { Fault } from "../lib/fault.ts";
import { SandboxSecrets, type SandboxSecretsDeps } from "./sandbox-secrets.ts";
import type { ConversationHost, HostedConversation } from "../tools/conversation-host.ts";

export type SandboxHostsDeps = Omit<SandboxSecretsDeps, "sandboxes"> & {
  readonly sandboxes: Sandboxes | null;
  /** What the sandboxes let out that isolate. */
  readonly sandboxNetwork: NetworkPolicy;
  readonly isMachineUser: (userId: string) => boolean;
};

/** The tools of conversations that work in sandboxes, and what these may reach. */
export class SandboxHosts {
  readonly #deps: SandboxHostsDeps;
  readonly #secrets: SandboxSecrets | null;

  constructor(deps: SandboxHostsDeps) {
    this.#deps = deps;
    const { sandboxes } = deps;
    this.#secrets = sandboxes === null ? null : new SandboxSecrets({ ...deps, sandboxes });
  }

  async choose(conversation: HostedConversation, sandboxId: string): Promise<ConversationHost> {
    const { sandboxes } = this.#deps;
    if (sandboxes === null) throw sandboxesElsewhere();
    const { toolHost, stateDir } = await sandboxes.openHost(sandboxId);
    await this.grant(conversation, sandboxId);
    await this.#secrets?.send(sandboxId);
    const openHost = async (): Promise<ToolHost> => toolHost;
    const host = {
      catalogue: toolHost.catalogue,
      kind: "sandbox",
      stateDir,
      putsSecretsIn: sandboxes.hasWayOut(sandboxId),
      openHost,
      worktrees: { parentDir: posix.join(stateDir, "worktrees"), openHost },
    } as const;
    if (!sandboxes.hasWayOut(sandboxId)) return host;
    return { ...host, refusalsSince: async (mark) => await sandboxes.refusalsSince(sandboxId, mark) };
  }

  /** Whether an answer of the user could widen what the sandbox reaches. */
  canWiden(ownerId: string, sandboxId: string): boolean {
    const { sandboxes, sandboxNetwork, isMachineUser } = this.#deps;
    if (sandboxNetwork === "none" || sandboxNetwork === "all") return false;
    // For others the server's policy, which is that of the sandbox, is the bound.
    return isMachineUser(ownerId) && sandboxes?.hasWayOut(sandboxId) === true;
  }

  /** Lets the sandbox reach what the conversation was granted. */
  async grant({ id, ownerId, config }: HostedConversation, sandboxId: string): Promise<void> {
    const granted = config.wall?.granted ?? [];
    if (granted.length === 0 || !this.#deps.isMachineUser(ownerId)) return;
    await this.#deps.sandboxes?.setGrants(sandboxId, id, granted);
  }

  /** Ends what a conversation that is deleted was granted in its sandbox. */
  async endGrants(id: string, { sandbox_id: sandboxId, wall }: ConversationConfig): Promise<void> {
    const { sandboxes } = this.#deps;
    if (sandboxId === undefined || wall?.granted === undefined || sandboxes === null) return;
    try {
      await sandboxes.setGrants(sandboxId, id, []);
    } catch (error) {
      // Its machine is unavailable: grants end with the server there.
      if (!(error instanceof Fault)) throw error;
    }
  }

  async totals(sandboxId: string): Promise<readonly HostTotals[]> {
    return (await this.#deps.sandboxes?.totals(sandboxId)) ?? [];
  }
}

export function sandboxesElsewhere(): Fault {
  return new Fault(
    "not-now",
    "sandboxes_not_served",
    "The conversation runs in a sandbox, and this server has none: they are switched off, or another server on the same data folder has them.",
  );
}
