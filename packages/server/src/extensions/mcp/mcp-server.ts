/** One MCP server as a conversation uses it, after reading and checking its configuration. */
export type McpServer = {
  readonly name: string;
  /** How long one call may take. */
  readonly callTimeoutMs: number;
} & (McpProgram | McpRemote);

/** A program at the tool host that speaks over its standard input and output. */
export type McpProgram = {
  readonly transport: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Relative ones are below the workspace. */
  readonly cwd: string | null;
};

export type McpRemote = {
  readonly transport: "http" | "sse";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly oauth: McpOAuth | null;
};

/** What a user brought back from an authorization; see `oauth-provider.ts`. */
export type McpOAuth = {
  readonly authentication: Readonly<Record<string, unknown>>;
  readonly state: Readonly<Record<string, unknown>>;
};
