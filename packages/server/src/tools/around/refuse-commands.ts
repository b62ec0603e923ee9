import { forward, type ToolSource } from "../tool-source.ts";

/** Starts no command while there is a reason against it, which the agent reads. What runs goes on, and can be written to. */
export function refuseCommands(source: ToolSource, whyNot: () => Promise<string | null>): ToolSource {
  return {
    ...forward(source),
    execute: async (request, options) => {
      const { is_input: isInput } = request.action as { readonly is_input?: boolean };
      const reason = request.tool === "terminal" && isInput !== true ? await whyNot() : null;
      return reason === null ? await source.execute(request, options) : { type: "error", text: reason };
    },
  };
}
