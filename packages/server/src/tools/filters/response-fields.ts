import type { Agent } from "@convoke/protocol";
import { withResponseFields } from "../../agent/response-schema.ts";
import { changeTools, forward, type ToolSource } from "../tool-source.ts";

/** A source whose tools ask for the fields that the agent wants with their calls. */
export function askForResponses(source: ToolSource, agent: Agent): ToolSource {
  const change = withResponseFields(agent);
  return change === null ? source : { ...forward(source), tools: changeTools(source, change) };
}
