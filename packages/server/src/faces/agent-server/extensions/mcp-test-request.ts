import type { McpTestRequest } from "@convoke/protocol";
import type { McpServer } from "../../../extensions/mcp/mcp-server.ts";
import { readServers } from "../../../extensions/mcp/read-servers.ts";
import type { TryOptions } from "../../../extensions/mcp/try-server.ts";
import { Fault } from "../../../lib/fault.ts";

export type ReadTestRequest = Pick<TryOptions, "call" | "timeoutMs"> & {
  readonly server: McpServer;
  /** The servers as sent, by name; their secrets must be masked in answers. */
  readonly config: object;
};

/** Reads the requests of `/api/mcp/test` and of logins. Throws a fault for a server that can never work. */
export function readTestRequest(body: McpTestRequest): ReadTestRequest {
  const { name = "test-server", server, timeout = 15, tool_call: call } = body;
  const config = { [name]: { ...server, enabled: true } };
  const { servers, faults } = readServers(config, ["body", "server"]);
  const [read] = servers;
  if (faults.length > 0 || read === undefined) {
    throw new Fault("caller", "validation", "The MCP server is not valid.", faults);
  }
  return {
    server: read,
    config,
    timeoutMs: timeout * 1000,
    call: call === null || call === undefined ? null : { name: call.name, arguments: call.arguments ?? {} },
  };
}
