import { toParameters } from "@convoke/protocol";
import type { ToolListing } from "@convoke/tool-host";

/** JSON Schema of what the model gives to a tool: its own, or that of its action kind. Throws on a kind that is not ours. */
export function parametersOf({ parameters, actionKind }: ToolListing): Readonly<Record<string, unknown>> {
  return parameters ?? toParameters(actionKind);
}
