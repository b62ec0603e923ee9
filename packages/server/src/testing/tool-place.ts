import type { Agent } from "@convoke/protocol";
import { createInProcessHost } from "@convoke/tool-host";
import type { ConversationConfig, ConversationSecrets } from "../engine/conversation-config.ts";
import type { SessionContext } from "../engine/session-context.ts";
import type { ToolPlace } from "../tools/tool-source.ts";

export type ToolPlaceOptions = {
  /** Over an agent with a terminal. */
  readonly agent?: Partial<Agent>;
  readonly config?: Partial<ConversationConfig>;
  readonly secrets?: Partial<ConversationSecrets>;
  readonly hasAskedForBrowser?: () => boolean;
  /** Absolute; for the state of sources. */
  readonly folder: string;
};

/** Where a test opens a source of tools: a conversation that is nowhere else, with an agent whose model is never called. */
export function toolPlace({
  agent,
  config,
  secrets,
  hasAskedForBrowser,
  folder,
}: ToolPlaceOptions): ToolPlace {
  const full: ConversationConfig = {
    agent: { kind: "Agent", llm: { model: "none" }, tools: [{ name: "terminal" }], ...agent },
    workspace: { kind: "LocalWorkspace", working_dir: folder },
    confirmation_policy: { kind: "NeverConfirm" },
    security_analyzer: null,
    max_iterations: 10,
    stuck_detection: true,
    knows_newer_kinds: true,
    tags: {},
    ...config,
  };
  const context: SessionContext = {
    secrets: { llm: {}, sources: {}, ...secrets },
    config: full,
    notify: () => {},
    closing: new AbortController().signal,
    handedOver: new AbortController().signal,
    stopping: () => {},
    showMcpServers: () => {},
    budget: { limit: null, spent: 0 },
    get hasAskedForBrowser() {
      return hasAskedForBrowser?.() ?? false;
    },
    openHelper: () => {
      throw new Error("No model is called here.");
    },
    secretsForTools: (resolved) => resolved,
    grantHosts: async () => {},
    maskFolder: () => {},
    stats: {},
    putStats: async () => {},
  };
  return {
    conversationId: "c",
    ownerId: "somebody",
    config: full,
    context,
    toolHost: createInProcessHost({ tools: [], environment: {} }),
    workspaceDir: folder,
    stateDir: folder,
    isHere: true,
    isTaken: () => false,
  };
}
