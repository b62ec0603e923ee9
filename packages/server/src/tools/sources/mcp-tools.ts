import { join } from "node:path";
import { maskText } from "@convoke/tool-host";
import type { Fetch } from "../../extensions/mcp/bounded-fetch.ts";
import { isLeft, openToolFilter } from "../../agent/tool-filter.ts";
import { mcpTimes, type McpTimes } from "../../extensions/mcp/mcp-connection.ts";
import type { McpServers } from "../../extensions/mcp/mcp-status.ts";
import { readServers } from "../../extensions/mcp/read-servers.ts";
import type { McpServer } from "../../extensions/mcp/mcp-server.ts";
import { secretsFor } from "../../egress/bound-secrets.ts";
import type { BoundSecret } from "../../egress/egress.ts";
import { toHost } from "../../lib/host-name.ts";
import { toBoundSecrets } from "../../engine/bound-secrets.ts";
import type { EventDraft } from "../../events/event-draft.ts";
import type { McpLogins } from "../../settings/mcp-logins.ts";
import { resolveSecrets } from "../../security/secret-sources.ts";
import type { ConversationConfig, ConversationSecrets } from "../../engine/conversation-config.ts";
import { secretValues } from "../../engine/secret-values.ts";
import type { SessionContext } from "../../engine/session-context.ts";
import type { OpenToolSource } from "../tool-source.ts";
import { McpSource } from "./mcp-source.ts";

/** How MCP servers are reached. */
export type McpAccess = {
  readonly fetch: Fetch;
  /** Name and version that servers get of this client. */
  readonly clientVersion: string;
  readonly times?: McpTimes;
  /** Where the tokens of logins are stored; in memory without it. */
  readonly logins?: McpLogins;
  /** How long the first request to the model waits for servers that have not answered yet; the time that one has to start unless given. */
  readonly firstWaitMs?: number;
};

/** The tools of the conversation's MCP servers. */
export function openMcpTools(access: McpAccess): OpenToolSource {
  return (place) => {
    const { config, context, toolHost } = place;
    const { servers } = readServers(context.secrets.mcp, []);
    if (servers.length === 0) {
      context.showMcpServers(null);
      return null;
    }
    const { logins } = access;
    const hidden = new Set(secretValues(context.secrets));
    const times = access.times ?? mcpTimes;
    const source = new McpSource({
      around: {
        isTaken: place.isTaken,
        isLeft: toolFilter(config, context),
        variables: async (server, signal) => {
          const resolved = await resolveSecrets(context.secrets.sources, signal, () => {}, access.fetch);
          const inside = context.secretsForTools(resolved);
          const values = [...inside, ...boundToServer(server, context.secrets)];
          return new Map(values.map(({ name, value }) => [name, value]));
        },
        failed: (server, reason) => context.notify(serverFailed(server, reason)),
        omitted: (server, reason) => context.notify(toolsOmitted(server, reason)),
      },
      sessionId: place.conversationId,
      depth: (config.start_depth ?? 0) + 1,
      servers,
      stateDir: join(place.stateDir, "mcp"),
      workspaceDir: place.workspaceDir,
      toolHost,
      fetch: access.fetch,
      clientVersion: access.clientVersion,
      hidden,
      tokens: hidden,
      ownLogins: logins && { open: (url, configured) => logins.open(place.ownerId, url, configured) },
      times,
      firstWaitMs: access.firstWaitMs ?? times.connectMs,
    });
    context.showMcpServers(hiding(source, () => [...hidden, ...secretValues(context.secrets)]));
    return source;
  };
}

/** Bound secrets that a remote server gets, because its address is one of their hosts. It is reached from outside of the wall. */
function boundToServer(server: McpServer, secrets: ConversationSecrets): readonly BoundSecret[] {
  if (server.transport === "stdio" || !URL.canParse(server.url)) return [];
  const { protocol, hostname, port } = new URL(server.url);
  const host = toHost(hostname);
  if (protocol !== "https:" || host === null) return [];
  return secretsFor(toBoundSecrets(secrets), { host, port: Number(port || 443) });
}

/** What a server says of its failure may have the key in it that it was given. */
function hiding(servers: McpServers, hidden: () => readonly string[]): McpServers {
  const values = () => hidden().map((value) => ({ name: "", value }));
  const hide = (text: string | null): string | null => (text === null ? null : maskText(text, values()));
  return {
    mcpStatus: () => servers.mcpStatus().map((status) => ({ ...status, error: hide(status.error) })),
    reconnectMcp: (name) => servers.reconnectMcp(name),
  };
}

/** A filter that does not end in time is reported once and ignored. */
function toolFilter({ agent }: ConversationConfig, context: SessionContext): (name: string) => boolean {
  const filter = openToolFilter(agent);
  let isReported = false;
  return (name) =>
    isLeft(filter, name, () => {
      if (!isReported) context.notify(filterFailed);
      isReported = true;
    });
}

const filterFailed = serverError(
  "ToolFilterFailed",
  "The expression in filter_tools_regex takes too long to be matched, so tools of MCP servers are left out. " +
    "Use one without lookarounds and nested repetition.",
);

/** Clients see these, the model does not, and no run ends of them. */
function serverFailed(server: string, reason: string): EventDraft {
  const detail =
    `The MCP server "${server}" does not work: ${reason} The agent continues without it; ` +
    "it is tried again by itself, and its tools come back when it answers.";
  return serverError("MCPServerFailed", detail);
}

function toolsOmitted(server: string, reason: string): EventDraft {
  return serverError(
    "MCPToolsOmitted",
    `The agent does not get all tools of the MCP server "${server}". ${reason}`,
  );
}

function serverError(code: string, detail: string): EventDraft {
  return { body: { kind: "ConversationErrorEvent", source: "environment", code, detail } };
}
