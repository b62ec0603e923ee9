import { Type, type Static } from "typebox";
import { closedObject, list, mapOf, object, orNull, ref } from "../schema.ts";

const apiKey = orNull(Type.String({ format: "password" }));

/** An MCP server over server-sent events; its key is shown masked. */
export const MCPSSEServerConfig = object("MCPSSEServerConfig", { url: Type.String(), api_key: apiKey });
export type MCPSSEServerConfig = Static<typeof MCPSSEServerConfig>;

/** An MCP server over streamable HTTP; its key is shown masked. */
export const MCPSHTTPServerConfig = object("MCPSHTTPServerConfig", { url: Type.String(), api_key: apiKey });
export type MCPSHTTPServerConfig = Static<typeof MCPSHTTPServerConfig>;

/** An MCP server that runs as a program; the values of its environment are shown masked. */
export const MCPStdioServerConfig = object("MCPStdioServerConfig", {
  name: Type.String(),
  command: Type.String(),
  args: list(Type.String()),
  env: Type.Optional(mapOf(Type.String(), { impliedDefault: {} })),
});
export type MCPStdioServerConfig = Static<typeof MCPStdioServerConfig>;

/** The MCP servers of a user. */
export const MCPConfig = object("MCPConfig", {
  sse_servers: list(ref(MCPSSEServerConfig)),
  stdio_servers: list(ref(MCPStdioServerConfig)),
  shttp_servers: list(ref(MCPSHTTPServerConfig)),
});
export type MCPConfig = Static<typeof MCPConfig>;

/** A remote server in a request: a missing or masked `api_key` leaves the stored one, an empty one removes it. */
export const MCPRemoteServerUpdate = object("MCPRemoteServerUpdate", {
  url: Type.String(),
  api_key: apiKey,
  timeout: Type.Optional(Type.Integer({ minimum: 1, maximum: 3600, description: "Seconds." })),
});
export type MCPRemoteServerUpdate = Static<typeof MCPRemoteServerUpdate>;

/** A program in a request: a missing `env` leaves the stored one, and so does each masked value. */
export const MCPStdioServerUpdate = object("MCPStdioServerUpdate", {
  name: Type.String(),
  command: Type.String(),
  args: list(Type.String()),
  env: Type.Optional(mapOf(Type.String())),
});
export type MCPStdioServerUpdate = Static<typeof MCPStdioServerUpdate>;

/** The complete new list of servers. */
export const MCPConfigUpdate = closedObject("MCPConfigUpdate", {
  sse_servers: list(ref(MCPRemoteServerUpdate)),
  stdio_servers: list(ref(MCPStdioServerUpdate)),
  shttp_servers: list(ref(MCPRemoteServerUpdate)),
});
export type MCPConfigUpdate = Static<typeof MCPConfigUpdate>;
