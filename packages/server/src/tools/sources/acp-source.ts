import { createLocalWorkspace, type RemoteToolHost } from "@convoke/tool-host";
import { commandOf } from "../../agent/acp-options.ts";
import type { ExternalAgent } from "../../extensions/acp/external-agent.ts";
import { AcpAgent } from "../../extensions/acp/acp-agent.ts";
import type { AgentFiles } from "../../extensions/acp/client-files.ts";
import { readServers } from "../../extensions/mcp/read-servers.ts";
import { expandServer } from "../../extensions/mcp/expand-variables.ts";
import { resolveSecrets } from "../../security/secret-sources.ts";
import { statelessSource, type ToolPlace, type ToolSource } from "../tool-source.ts";
import type { McpAccess } from "./mcp-tools.ts";

/** The program that does the turns of a conversation, and the source that hands on what it was permitted. */
export function openAcp(
  place: ToolPlace,
  { clientVersion, fetch }: Pick<McpAccess, "clientVersion" | "fetch">,
): { readonly source: ToolSource; readonly agent: ExternalAgent } | null {
  const { config, context, toolHost, workspaceDir } = place;
  const { acp } = config.agent;
  if (acp === undefined) return null;
  const secrets = async (signal: AbortSignal) =>
    context.secretsForTools(await resolveSecrets(context.secrets.sources, signal, () => {}, fetch));
  const agent = new AcpAgent({
    command: commandOf(acp),
    options: () => context.config.agent.acp ?? acp,
    toolHost,
    workspaceDir,
    files: filesOf(place),
    environment: async (signal) =>
      Object.fromEntries((await secrets(signal)).map(({ name, value }) => [name, value])),
    servers: async (signal) => {
      const { servers } = readServers(context.secrets.mcp, []);
      if (servers.length === 0) return [];
      const variables = new Map((await secrets(signal)).map(({ name, value }) => [name, value]));
      return servers.map((server) => expandServer(server, variables));
    },
    clientVersion,
  });
  return { agent, source: createAcpSource(agent) };
}

/** The folder of the conversation, as the tools see it. */
function filesOf({ toolHost, workspaceDir }: ToolPlace): AgentFiles {
  const workspace =
    "workspace" in toolHost
      ? (toolHost as RemoteToolHost).workspace
      : createLocalWorkspace({ environment: {} });
  return workspace.within(workspaceDir);
}

/** Starting an action of the log means here that the agent may do what it has asked for. */
export function createAcpSource(agent: ExternalAgent): ToolSource {
  return {
    ...statelessSource,
    tools: () => noTools,
    owns: () => true,
    execute: async ({ actionId, tool }) => {
      const option = agent.permissions.allow(actionId);
      if (option === null) return { type: "error", text: notAsking };
      const text = option === "" ? "Allowed." : `Allowed: ${option}.`;
      const content = [{ type: "text" as const, text, cache_prompt: false }];
      const observation = { kind: "MCPToolObservation" as const, tool_name: tool, content, is_error: false };
      return { type: "observation", observation };
    },
    [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose](),
  };
}

const noTools: ReturnType<ToolSource["tools"]> = [];

const notAsking =
  "The agent does not wait for this answer any more: its turn has ended, or the server has stopped meanwhile. Nothing was done.";
