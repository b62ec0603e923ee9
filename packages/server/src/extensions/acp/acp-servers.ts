import type { McpCapabilities, McpServer as AcpServer } from "@agentclientprotocol/sdk";
import type { McpServer } from "../mcp/mcp-server.ts";

type Pair = { readonly name: string; readonly value: string };

/** The conversation's MCP servers as the agent connects to them itself, and the names of those that it cannot. */
export function toAcpServers(
  servers: readonly McpServer[],
  { http = false, sse = false }: McpCapabilities,
): { readonly given: AcpServer[]; readonly left: string[] } {
  const given: AcpServer[] = [];
  const left: string[] = [];
  for (const server of servers) {
    const { name } = server;
    if (server.transport === "stdio") {
      const { command, args, env } = server;
      given.push({ name, command, args: [...args], env: pairs(env) });
    } else if (server.oauth !== null || !(server.transport === "http" ? http : sse)) left.push(name);
    else given.push({ type: server.transport, name, url: server.url, headers: pairs(server.headers) });
  }
  return { given, left };
}

function pairs(values: Readonly<Record<string, string>>): Pair[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}
