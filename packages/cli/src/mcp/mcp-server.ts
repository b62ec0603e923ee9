import {
  fromJsonSchema,
  McpServer,
  ResourceTemplate,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { callTool, stateOf, ToolRefused, type ToolDeps } from "./conversation-tools.ts";
import { descriptions, schemas, type ToolName } from "./tool-schemas.ts";

/** Where a calling conversation says how deep those are that it starts. */
const depthKey = "convoke/depth";

/** Conversations as the tools of another agent. */
export function createMcpServer(deps: ToolDeps, version: string): McpServer {
  const server = new McpServer({ name: "convoke", version });
  for (const name of Object.keys(schemas) as ToolName[]) {
    const { input, output } = schemas[name];
    const config = {
      description: descriptions[name],
      inputSchema: fromJsonSchema<Record<string, unknown>>(input),
      outputSchema: fromJsonSchema<Record<string, unknown>>(output),
      annotations: { readOnlyHint: readers.has(name) },
    };
    server.registerTool(name, config, async (given, { mcpReq }) => {
      try {
        const result = await callTool(
          name,
          { arguments: given, depth: depthOf(mcpReq), signal: mcpReq.signal, report: reporter(mcpReq) },
          deps,
        );
        return { structuredContent: result, content: [{ type: "text", text: JSON.stringify(result) }] };
      } catch (error) {
        // What a call cannot do is a result that the model reads.
        if (!(error instanceof Error) || !isExpected(error)) throw error;
        return { isError: true, content: [{ type: "text", text: error.message }] };
      }
    });
  }
  const template = new ResourceTemplate("convoke://conversation/{id}", { list: undefined });
  const about = { description: "How a conversation stands", mimeType: "application/json" };
  server.registerResource("conversation", template, about, async (uri, { id }) => {
    const state = await stateOf(deps.clientAt(0), String(id));
    return { contents: [{ uri: uri.href, mimeType: about.mimeType, text: JSON.stringify(state) }] };
  });
  return server;
}

const readers: ReadonlySet<ToolName> = new Set(["wait_for_conversation", "read_conversation", "search"]);

function isExpected(error: Error): boolean {
  return error instanceof ToolRefused || error.name === "ApiError" || error.name === "ConnectionError";
}

type Request = ServerContext["mcpReq"];

function depthOf({ _meta: meta }: Request): number {
  const depth = meta?.[depthKey];
  return typeof depth === "number" ? depth : 0;
}

/** Progress, where the caller asked for it. */
function reporter({ _meta: meta, notify }: Request): (message: string) => Promise<void> {
  const progressToken = meta?.progressToken;
  let progress = 0;
  return async (message) => {
    progress += 1;
    if (progressToken === undefined) return;
    await notify({ method: "notifications/progress", params: { progressToken, progress, message } });
  };
}
