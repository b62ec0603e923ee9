import type { McpServer } from "./mcp-server.ts";

/** How the connection to a server stands. */
export type ConnectionStatus = {
  readonly state: "connecting" | "connected" | "failed" | "needs_login";
  /** Why it did not work last time, in the words of the server; null while all is well. */
  readonly error: string | null;
  /** When it is tried again by itself, epoch milliseconds. */
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
  /** Connects anew, also where a connection works; false when there is no such server. */
  reconnectMcp(name: string): boolean;
}
