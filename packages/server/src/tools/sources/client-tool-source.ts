import { clientActionPrefix, type ClientToolSpec, type ToolDefinition } from "@convoke/protocol";
import type { ToolListing } from "@convoke/tool-host";
import { clientTools } from "../../agent/tool-specs.ts";
import { statelessSource, type OpenToolSource } from "../tool-source.ts";

/**
 * Tools that a client carries out itself: it acts on the ActionEvent. A call whose result is waited for never comes here; the engine hands
 * it over. Any other call is answered at once, which harms nothing when it is done again after a crash: there is one ActionEvent, and one
 * answer in the log.
 */
export const openClientTools: OpenToolSource = ({ config }) => {
  const specs = clientTools(config);
  if (specs.length === 0) return null;
  const names = new Set(specs.map(({ name }) => name));
  const listings = specs.map(listClientTool);
  return {
    ...statelessSource,
    tools: () => listings,
    owns: (tool) => names.has(tool),
    execute: async (_, options) => {
      if (options?.signal?.aborted === true) return { type: "cancelled", text: "The call was stopped." };
      return { type: "observation", observation: handedOver as never };
    },
  };
};

const handedOver = {
  kind: "ClientToolObservation",
  content: [{ type: "text", text: "The call was handed to the client, which carries it out." }],
  is_error: false,
};

function listClientTool({ name, description, parameters, annotations = null }: ClientToolSpec): ToolListing {
  const schema = parameters ?? { type: "object", properties: {} };
  const actionKind = `${clientActionPrefix}${name}`;
  const definition = {
    kind: "ClientTool",
    title: annotations?.title || name,
    description,
    action_type: actionKind,
    observation_type: "ClientToolObservation",
    annotations,
    meta: null,
    client_tool_name: name,
    input_schema: schema,
  };
  return {
    name,
    actionKind,
    // The word of the client whose tool it is, unlike that of a stranger's MCP server.
    isReadOnly: annotations?.readOnlyHint === true,
    definition: definition as unknown as ToolDefinition,
    parameters: schema,
  };
}
