import type { McpServerInfo, McpServerList, mcpRoutes } from "@convoke/protocol";
import type { Conversation } from "../../../engine/conversation.ts";
import { readServers } from "../../../extensions/mcp/read-servers.ts";
import { openAsked } from "../../../http/asked-conversation.ts";
import { Fault } from "../../../lib/fault.ts";
import { formatInstant } from "../../../lib/instant.ts";
import type { Handlers } from "../../../http/mount.ts";
import type { FaceDeps } from "../../face-deps.ts";

/** The state of a conversation's MCP servers, and the reconnection of one. */
export function conversationMcpHandlers({ directory }: FaceDeps) {
  return {
    listConversationMcp: async (request) => {
      const conversation = await openAsked(directory, request);
      return { json: { items: serversOf(conversation) } satisfies McpServerList };
    },

    reconnectConversationMcp: async (request) => {
      const conversation = await openAsked(directory, request);
      const name = request.params.server_name;
      const isThere = readServers(conversation.configuration.secrets.mcp, []).servers.some(
        (other) => other.name === name,
      );
      if (!isThere || !(await conversation.reconnectMcp(name)))
        throw new Fault("missing", "mcp_server_not_found", `The conversation has no MCP server ${name}.`);
      return { json: { items: serversOf(conversation) } satisfies McpServerList };
    },
  } satisfies Partial<Handlers<typeof mcpRoutes>>;
}

function serversOf({ configuration, session }: Conversation): McpServerInfo[] {
  const { mcpServers } = session;
  if (mcpServers !== null)
    return mcpServers.mcpStatus().map(({ retryAtMs, tools, ...status }) => ({
      ...status,
      tools: [...tools],
      retry_at: retryAtMs === null ? null : formatInstant(Math.round(retryAtMs) * 1_000),
    }));
  return readServers(configuration.secrets.mcp, []).servers.map(({ name, transport }) => ({
    name,
    transport,
    state: "waiting",
    error: null,
    tools: [],
    retry_at: null,
  }));
}
