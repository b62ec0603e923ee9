/**
 * Converts MCP servers as clients really send them into the documented form before validation: only an address, arguments on one line,
 * the environment as `NAME=value,OTHER=value`. Unknown forms are left for the validation to reject. The argument is not modified.
 */
export function tolerateSettings(body: unknown): unknown {
  if (!isObject(body) || !isObject(body["mcp_config"])) return body;
  const { mcp_config: config } = body;
  const change = (name: string, tolerate: (server: unknown) => unknown): object => {
    const servers = config[name];
    return Array.isArray(servers) ? { [name]: servers.map(tolerate) } : {};
  };
  return {
    ...body,
    mcp_config: {
      ...config,
      ...change("sse_servers", tolerateRemote),
      ...change("shttp_servers", tolerateRemote),
      ...change("stdio_servers", tolerateProgram),
    },
  };
}

function tolerateRemote(server: unknown): unknown {
  return typeof server === "string" ? { url: server } : server;
}

function tolerateProgram(server: unknown): unknown {
  if (!isObject(server)) return server;
  const { args, env } = server;
  return {
    ...server,
    ...(typeof args === "string" ? { args: splitArguments(args) } : {}),
    ...(typeof env === "string" ? { env: splitEnvironment(env) } : {}),
  };
}

/** Splits words like a shell: at spaces outside quotes. */
function splitArguments(line: string): string[] {
  const words = line.match(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g) ?? [];
  return words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"));
}

function splitEnvironment(text: string): Record<string, string> {
  const pairs = text.split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      return at < 0 ? [pair.trim(), ""] : [pair.slice(0, at).trim(), pair.slice(at + 1)];
    }),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
