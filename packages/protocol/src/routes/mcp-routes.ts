import { Type, type Static } from "typebox";
import { anyObject, choice, list, nullable, object, orNull, ref } from "../schema.ts";
import { ErrorReply } from "../requests/replies.ts";
import { conversationParams } from "./parameters.ts";
import { conflict, invalid, noConversation } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

/** The result of one call in a server's test. */
export const McpTestCall = object("MCPTestToolCall", {
  name: Type.String(),
  arguments: Type.Optional(anyObject()),
});
export type McpTestCall = Static<typeof McpTestCall>;

export const McpTestRequest = object(
  "MCPTestRequest",
  {
    name: Type.Optional(Type.String({ maxLength: 128, default: "test-server" })),
    server: anyObject({ description: "One server, in the form of `agent.mcp_config`." }),
    timeout: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, maximum: 120, default: 15, description: "Seconds." }),
    ),
    tool_call: orNull(ref(McpTestCall)),
  },
  { additionalProperties: true },
);
export type McpTestRequest = Static<typeof McpTestRequest>;

/** The result of a test: `ok` decides which of the other fields are present. */
export const McpTestResponse = object("MCPTestResponse", {
  ok: Type.Boolean(),
  tools: Type.Optional(list(Type.String())),
  tool_result: Type.Optional(anyObject()),
  error: Type.Optional(Type.String()),
  error_kind: Type.Optional(Type.String({ description: "timeout, connection or unknown." })),
});
export type McpTestResponse = Static<typeof McpTestResponse>;

/** The start of a login to an MCP server: a person opens `authorization_url` in a browser. */
export const McpLoginStart = object("MCPOAuthStartResponse", {
  ok: Type.Boolean(),
  job_id: Type.Optional(Type.String()),
  authorization_url: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
  error_kind: Type.Optional(Type.String({ description: "timeout, connection or unknown." })),
});

export const McpLoginStatus = object("MCPOAuthStatusResponse", {
  ok: Type.Boolean({ description: "False when the login failed." }),
  status: Type.String({ description: "pending, authorizing, succeeded or failed." }),
  job_id: Type.String(),
  authorization_url: Type.Optional(Type.String()),
  callback_ready: Type.Boolean({ description: "True while the person's answer is waited for." }),
  tools: Type.Optional(list(Type.String())),
  tool_result: Type.Optional(anyObject()),
  oauth_state: Type.Optional(
    anyObject({
      description: "For `auth.state` of the server; its secrets are sealed and good as they are.",
    }),
  ),
  error: Type.Optional(Type.String()),
  error_kind: Type.Optional(Type.String({ description: "timeout, connection or unknown." })),
});

export const McpLoginCallback = object(
  "MCPOAuthCallbackRequest",
  { callback_url: Type.String({ minLength: 1, maxLength: 16_384 }) },
  { additionalProperties: true },
);
export type McpLoginCallback = Static<typeof McpLoginCallback>;

export const McpServerState = choice(["waiting", "connecting", "connected", "failed", "needs_login"], {
  $id: "MCPServerState",
  description:
    "`waiting`: nothing has needed the tools since the server started, or for long. What failed is tried again by itself.",
});
export type McpServerState = Static<typeof McpServerState>;

/** Current state of an MCP server of a conversation. */
export const McpServerInfo = object("MCPServerInfo", {
  name: Type.String(),
  transport: choice(["stdio", "http", "sse"]),
  state: ref(McpServerState),
  error: nullable(Type.String(), {
    description: "Why it did not work last time; also while it is tried again.",
  }),
  tools: Type.Array(Type.String(), { description: "By the names that the model knows." }),
  retry_at: nullable(Type.String({ format: "date-time" }), {
    description: "When it is tried again by itself.",
  }),
});
export type McpServerInfo = Static<typeof McpServerInfo>;

export const McpServerList = object("MCPServerList", { items: Type.Array(ref(McpServerInfo)) });
export type McpServerList = Static<typeof McpServerList>;

const jobParams = object("MCPOAuthJob", { job_id: Type.String({ minLength: 1, maxLength: 64 }) });
const noJob = { 404: { description: "There is no such login.", schema: ErrorReply } } as const;
const badRequest = (description: string) => ({ 400: { description, schema: ErrorReply } }) as const;

/** Testing an MCP server before it is stored, and logging in to it. */
export const mcpRoutes = routesOf("MCP", {
  testMcpServer: {
    method: "POST",
    path: "/api/mcp/test",
    summary: "Connect to an MCP server, list its tools and perhaps call one",
    auth: true,
    body: McpTestRequest,
    responses: { ...ok("What came of it; a failure is an answer too.", McpTestResponse), ...invalid },
  },
  startMcpLogin: {
    method: "POST",
    path: "/api/mcp/oauth/start",
    summary: "Begin a login to an MCP server",
    auth: true,
    body: McpTestRequest,
    responses: {
      ...ok("Where a person logs in; a failure is an answer too.", McpLoginStart),
      ...badRequest("The server's `auth` is not `oauth2`."),
      ...invalid,
    },
  },
  getMcpLogin: {
    method: "GET",
    path: "/api/mcp/oauth/status/{job_id}",
    summary: "How far a login is",
    auth: true,
    params: jobParams,
    responses: { ...ok("The login.", McpLoginStatus), ...noJob, ...invalid },
  },
  finishMcpLogin: {
    method: "POST",
    path: "/api/mcp/oauth/callback/{job_id}",
    summary: "Hand over the address to which a login has sent the browser",
    auth: true,
    params: jobParams,
    body: McpLoginCallback,
    responses: {
      ...ok("The login, which has ended.", McpLoginStatus),
      ...badRequest("The address is not the one that this login leads to."),
      ...noJob,
      ...conflict,
      ...invalid,
    },
  },
  listConversationMcp: {
    method: "GET",
    path: "/api/conversations/{conversation_id}/mcp",
    summary: "The MCP servers of a conversation, and how each of them does",
    auth: true,
    params: conversationParams,
    responses: { ...ok("The servers.", McpServerList), ...noConversation, ...conflict, ...invalid },
  },
  reconnectConversationMcp: {
    method: "POST",
    path: "/api/conversations/{conversation_id}/mcp/{server_name}/reconnect",
    summary: "Reconnect a conversation to an MCP server",
    auth: true,
    params: Type.Object({
      ...conversationParams.properties,
      server_name: Type.String({ minLength: 1, maxLength: 256 }),
    }),
    responses: {
      ...ok("The servers; this one is on its way.", McpServerList),
      404: { description: "There is no such conversation, or it has no such server.", schema: ErrorReply },
      ...conflict,
      ...invalid,
    },
  },
  receiveMcpLogin: {
    method: "GET",
    path: "/api/mcp/oauth/callback",
    summary: "Where a login sends the browser",
    auth: false,
    responses: {
      200: { description: "A page for the person." },
      400: { description: "A page for the person: nothing is waiting for this login." },
    },
  },
});
