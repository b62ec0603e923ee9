import { Type, type Static } from "typebox";
import { closedObject, list, mapOf, object, orNull, ref } from "../schema.ts";

const apiKey = orNull(Type.String({ format: "password" }));

/** An MCP server reached by server-sent events; its key shows as a mask. */
export const MCPSSEServerConfig = object("MCPSSEServerConfig", { url: Type.String(), api_key: apiKey });
export type MCPSSEServerConfig = Static<typeof MCPSSEServerConfig>;

/** An MCP server reached by streamable HTTP; its key shows as a mask. */
export const MCPSHTTPServerConfig = object("MCPSHTTPServerConfig", { url: Type.String(), api_key: apiKey });
export type MCPSHTTPServerConfig = Static<typeof MCPSHTTPServerConfig>;

/** An MCP server that is a program beside the tools; the values of its environment show as masks. */
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

/** A remote server as it is written: without `api_key`, or with its mask, the stored one stays; an empty one removes it. */
export const MCPRemoteServerUpdate = object("MCPRemoteServerUpdate", {
  url: Type.String(),
  api_key: apiKey,
  timeout: Type.Optional(Type.Integer({ minimum: 1, maximum: 3600, description: "Seconds." })),
});
export type MCPRemoteServerUpdate = Static<typeof MCPRemoteServerUpdate>;

/** A program as it is written: without `env` the stored one stays, and so does each value that is masked. */
export const MCPStdioServerUpdate = object("MCPStdioServerUpdate", {
  name: Type.String(),
  command: Type.String(),
  args: list(Type.String()),
  env: Type.Optional(mapOf(Type.String())),
});
export type MCPStdioServerUpdate = Static<typeof MCPStdioServerUpdate>;

/** The servers that shall be there from now on. */
export const MCPConfigUpdate = closedObject("MCPConfigUpdate", {
  sse_servers: list(ref(MCPRemoteServerUpdate)),
  stdio_servers: list(ref(MCPStdioServerUpdate)),
  shttp_servers: list(ref(MCPRemoteServerUpdate)),
});
export type MCPConfigUpdate = Static<typeof MCPConfigUpdate>;
