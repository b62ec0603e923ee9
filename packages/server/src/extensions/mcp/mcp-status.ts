import type { McpServer } from "./mcp-server.ts";

/** The state of the connection to a server. */
export type ConnectionStatus = {
  readonly state: "connecting" | "connected" | "failed" | "needs_login";
  /** The server's message about the last failure; null while it works. */
  readonly error: string | null;
  /** The time of the next retry, in epoch milliseconds. */
  readonly retryAtMs: number | null;
};

export type McpServerStatus = ConnectionStatus & {
  readonly name: string;
  readonly transport: McpServer["transport"];
  /** As the model knows them. */
  readonly tools: readonly string[];
};

/** The MCP servers of one conversation, while its tools are open. */
export interface McpServers {
  /** In the order of the configuration. */
  mcpStatus(): readonly McpServerStatus[];
  /** Reconnects, also a working connection; false when the server does not exist. */
  reconnectMcp(name: string): boolean;
}
