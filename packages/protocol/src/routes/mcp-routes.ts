import { Type, type Static } from "typebox";
import { anyObject, list, object, orNull, ref } from "../schema.ts";
import { invalid, ok } from "./responses.ts";
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
});
