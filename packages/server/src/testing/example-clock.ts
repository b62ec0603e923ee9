import { toolSpecs } from "../agent/tool-specs.ts";
import { listMcpTool } from "../extensions/mcp/tool-listing.ts";
import { statelessSource, type OpenToolSource } from "../tools/tool-source.ts";

const name = "clock";

/** A tool that gives the time, for agents that name it. */
export const openClock: OpenToolSource = ({ config: { agent } }) => {
  if (!toolSpecs(agent).some((tool) => tool.name === name)) return null;
  const inputSchema = { type: "object", properties: {} };
  const listing = listMcpTool(name, { name, description: "Get the time in UTC.", inputSchema });
  const listings = [{ ...listing, isReadOnly: true }];
  return {
    ...statelessSource,
    tools: () => listings,
    owns: (tool) => tool === name,
    execute: async () => {
      const content = [{ type: "text" as const, text: new Date().toISOString(), cache_prompt: false }];
      const observation = { kind: "MCPToolObservation" as const, content, is_error: false, tool_name: name };
      return { type: "observation", observation };
    },
  };
};
