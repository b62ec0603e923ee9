import { Type, type Static } from "typebox";
import { anyObject, list, object, orNull, ref } from "../schema.ts";
import { ErrorReply } from "../requests/replies.ts";
import { conflict, invalid, ok } from "./responses.ts";
import { routesOf } from "./route.ts";

/** One call that a test of a server makes. */
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

/** A test that was made: `ok` tells which of the other fields are there. */
export const McpTestResponse = object("MCPTestResponse", {
  ok: Type.Boolean(),
  tools: Type.Optional(list(Type.String())),
  tool_result: Type.Optional(anyObject()),
  error: Type.Optional(Type.String()),
  error_kind: Type.Optional(Type.String({ description: "timeout, connection or unknown." })),
});
export type McpTestResponse = Static<typeof McpTestResponse>;

/** How a login to an MCP server begins: a person opens `authorization_url` in a browser. */
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

const jobParams = object("MCPOAuthJob", { job_id: Type.String({ minLength: 1, maxLength: 64 }) });
const noJob = { 404: { description: "There is no such login.", schema: ErrorReply } } as const;
const badRequest = (description: string) => ({ 400: { description, schema: ErrorReply } }) as const;

/** Source: reference, agent-server 16.7 and tools 15.4. */
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
