import type { McpServer } from "@agentclientprotocol/sdk";
import type { StartConversationRequest } from "@convoke/protocol";
import { askingOf, type ModeId } from "./mapping.ts";
import { invalidParams } from "./session-errors.ts";

/** Where the model of new sessions comes from: the command line and the environment, else the settings of the server. */
export type ModelChoice = {
  readonly model: string | null;
  readonly apiKey: string | null;
  readonly baseUrl: string | null;
};

export type SessionStart = {
  /** One is made by the server when it is left out. */
  readonly id?: string;
  readonly cwd: string;
  readonly mcpServers: readonly McpServer[];
  readonly mode: ModeId;
  readonly model: ModelChoice;
};

/** The tools of `convoke run`. */
const tools = ["terminal", "file_editor", "glob", "grep", "task_tracker"].map((name) => ({ name }));

/** The conversation of a new session. Without a model the server takes that of its settings. */
export function toStartRequest({ id, cwd, mcpServers, mode, model }: SessionStart): StartConversationRequest {
  const { policy, analyzer } = askingOf(mode);
  const agent = {
    kind: "Agent" as const,
    llm: { ...toLlm(model), stream: true },
    tools,
    // Who opens a folder in an editor expects its AGENTS.md to count.
    agent_context: { load_project_skills: true },
    ...(mcpServers.length === 0 ? {} : { mcp_config: { mcpServers: toMcpConfig(mcpServers) } }),
  };
  return {
    ...(id === undefined ? {} : { conversation_id: id }),
    agent,
    workspace: { kind: "LocalWorkspace", working_dir: cwd },
    confirmation_policy: policy,
    ...(analyzer === null ? {} : { security_analyzer: analyzer }),
    ...(mode === "plan" ? { agent_type: "plan" as const } : {}),
  };
}

/** Key and address belong to the model that is named, not to that of the settings. */
function toLlm({ model, apiKey, baseUrl }: ModelChoice): Record<string, string> {
  if (model === null) return {};
  return { model, ...(apiKey ? { api_key: apiKey } : {}), ...(baseUrl ? { base_url: baseUrl } : {}) };
}

/** The editor's servers by name. They run where the tools of the conversation run. */
function toMcpConfig(servers: readonly McpServer[]): Record<string, object> {
  const config: Record<string, object> = {};
  for (const server of servers) {
    if (Object.hasOwn(config, server.name))
      throw invalidParams(`mcpServers has two servers named ${server.name}. Give each a name of its own.`);
    config[server.name] =
      "command" in server
        ? { command: server.command, args: server.args, env: byName(server.env) }
        : { transport: server.type, url: server.url, headers: byName(server.headers) };
  }
  return config;
}

function byName(pairs: readonly { readonly name: string; readonly value: string }[]): Record<string, string> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}
