import type { Action } from "@convoke/protocol";
import { compileForeignSchema, type CheckForeign } from "@convoke/protocol/validate";
import { ToolInputError, type Tool, type ToolCall } from "@convoke/tool-host";
import { describeError } from "../../lib/describe-error.ts";
import { flattenSchema } from "../../lib/flatten-schema.ts";
import { takesNull } from "../../lib/takes-null.ts";
import { expandSecrets } from "./expand-variables.ts";
import type { AnnouncedTool } from "./list-tools.ts";
import type { McpConnection } from "./mcp-connection.ts";
import { toObservation } from "./observation.ts";
import { listMcpTool } from "./tool-listing.ts";
import { madeOnce } from "../../lib/made-once.ts";

/** A tool of a server, where it is and what it takes. */
export type OfferedTool = {
  readonly announced: AnnouncedTool;
  readonly connection: McpConnection;
  readonly parameters: Readonly<Record<string, unknown>>;
};

/** Runs calls of all servers for a tool host, which records them; `params.tool` says whose instance it is. */
export function createMcpTool(find: (name: string) => OfferedTool | undefined): Tool {
  const checkOf = madeOnce((schema: OfferedTool["parameters"]) => compileForeignSchema(schema));
  return {
    name: mcpToolName,
    actionKind: "MCPToolAction",
    isReadOnly: false,
    // Only the host that keeps the record asks for it; sessions list the tools of the servers.
    define: () => listMcpTool(mcpToolName, { name: mcpToolName }).definition,
    open: async ({ params }) => {
      const name = String(params["tool"]);
      return {
        execute: async (action: Action, call: ToolCall) => {
          const tool = find(name);
          if (tool === undefined) throw new ToolInputError(`The MCP server has no tool "${name}" any more.`);
          const given = action.kind === "MCPToolAction" ? (action.data ?? {}) : {};
          const data = readArguments(name, given, tool.parameters, checkOf(tool.parameters));
          return toObservation(name, await run(tool, data, call));
        },
        [Symbol.asyncDispose]: async () => {},
      };
    },
  };
}

export const mcpToolName = "mcp";

async function run(
  { announced, connection }: OfferedTool,
  data: Readonly<Record<string, unknown>>,
  call: ToolCall,
): Promise<unknown> {
  const secrets = new Map(call.secrets.map(({ name, value }) => [name, value]));
  const hints = (announced["annotations"] ?? {}) as { readOnlyHint?: unknown; idempotentHint?: unknown };
  try {
    return await connection.call({
      tool: announced.name,
      arguments: expandSecrets(data, secrets) as Record<string, unknown>,
      isRepeatable: hints.readOnlyHint === true || hints.idempotentHint === true,
      signal: call.signal,
      onProgress: call.onProgress,
    });
  } catch (error) {
    if (call.signal.aborted) throw error;
    // What goes wrong with a server is a result that the model reads, like any error a tool reports.
    const text = describeError(error);
    return { isError: true, content: [{ type: "text", text }] };
  }
}

/** Null means "not given" where the schema does not take it. */
function readArguments(
  tool: string,
  given: Readonly<Record<string, unknown>>,
  schema: OfferedTool["parameters"],
  check: CheckForeign,
): Record<string, unknown> {
  const { properties } = flattenSchema(schema);
  const data = Object.fromEntries(
    Object.entries(given).filter(([key, value]) => value !== null || takesNull(properties[key])),
  );
  const errors = check(data);
  if (errors.length === 0) return data;
  const problems = errors.map(({ loc, msg }) => `${loc.join(".") || "arguments"}: ${msg}`).join("; ");
  throw new ToolInputError(`The arguments of ${tool} do not fit its schema: ${problems}`);
}
