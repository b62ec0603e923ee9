import { Type, type Static } from "typebox";
import { anyObject, object, orAbsent, ref } from "../schema.ts";
import { toolDefinitionWith } from "./tool-fields.ts";

const extensible = { additionalProperties: true };

/** An icon that an MCP server gives a tool. */
export const Icon = object(
  "Icon",
  { src: Type.String(), mimeType: orAbsent(Type.String()), sizes: orAbsent(Type.Array(Type.String())) },
  extensible,
);
export type Icon = Static<typeof Icon>;

/** Hints as an MCP server gives them: any of them may be missing. */
export const McpToolAnnotations = object(
  "mcp__types__ToolAnnotations",
  {
    title: orAbsent(Type.String()),
    readOnlyHint: orAbsent(Type.Boolean()),
    destructiveHint: orAbsent(Type.Boolean()),
    idempotentHint: orAbsent(Type.Boolean()),
    openWorldHint: orAbsent(Type.Boolean()),
  },
  extensible,
);
export type McpToolAnnotations = Static<typeof McpToolAnnotations>;

/** A tool exactly as an MCP server announced it. */
export const McpTool = object(
  "mcp__types__Tool",
  {
    name: Type.String(),
    title: orAbsent(Type.String()),
    description: orAbsent(Type.String()),
    inputSchema: anyObject(),
    outputSchema: orAbsent(anyObject()),
    icons: orAbsent(Type.Array(ref(Icon))),
    annotations: orAbsent(ref(McpToolAnnotations)),
    _meta: orAbsent(anyObject()),
  },
  extensible,
);
export type McpTool = Static<typeof McpTool>;

/** A tool of an MCP server; its name is `mcp_tool.name`. */
export const MCPToolDefinition = toolDefinitionWith("MCPToolDefinition", { mcp_tool: ref(McpTool) });
export type MCPToolDefinition = Static<typeof MCPToolDefinition>;
