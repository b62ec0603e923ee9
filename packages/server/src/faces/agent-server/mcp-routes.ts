import type { mcpRoutes, McpTestRequest } from "@convoke/protocol";
import { maskText, type ToolHost } from "@convoke/tool-host";
import type { Fetch } from "../../extensions/mcp/bounded-fetch.ts";
import { hiddenValues } from "../../extensions/mcp/hidden-values.ts";
import { readServers } from "../../extensions/mcp/read-servers.ts";
import { tryServer } from "../../extensions/mcp/try-server.ts";
import type { RouteHandler } from "../../http/mount.ts";
import { Fault } from "../../lib/fault.ts";

export type McpRouteDeps = {
  readonly toolHost: ToolHost;
  /** Absolute; programs start there. */
  readonly workspaceRoot: string;
  readonly fetch: Fetch;
  readonly clientVersion: string;
};

/** A server can be tried before a conversation relies on it. */
export function mcpHandlers(deps: McpRouteDeps): Record<keyof typeof mcpRoutes, RouteHandler> {
  return {
    testMcpServer: async ({ body, signal }) => {
      const { name = "test-server", server, timeout = 15, tool_call: call } = body as McpTestRequest;
      const config = { [name]: { ...server, enabled: true } };
      const { servers, faults } = readServers(config, ["body", "server"]);
      if (faults.length > 0) {
        throw new Fault("caller", "validation", "The MCP server is not valid.", faults);
      }
      const tried = await tryServer(
        servers[0]!,
        {
          startProcess: (spec) => deps.toolHost.startProcess(spec),
          workspaceDir: deps.workspaceRoot,
          fetch: deps.fetch,
          clientVersion: deps.clientVersion,
        },
        {
          timeoutMs: timeout * 1000,
          call:
            call === null || call === undefined ? null : { name: call.name, arguments: call.arguments ?? {} },
          signal,
        },
      );
      const secrets = hiddenValues(config).map((value) => ({ name: "", value }));
      return { json: JSON.parse(maskText(JSON.stringify(tried), secrets)) as unknown };
    },
  };
}
