import { changeTools, forward, type ToolSource } from "../tool-source.ts";

/** A source of an agent that plans: of its tools only those that read, and the one that writes the plan. */
export function onlyPlanning(source: ToolSource): ToolSource {
  const tools = changeTools(source, (given) =>
    given.filter(
      ({ isReadOnly, traits }) => isReadOnly || traits?.endsTurn === true || traits?.writesPlan === true,
    ),
  );
  return {
    ...forward(source),
    tools,
    // A call that was recorded before the agent planned is no exception.
    execute: async (request, options) =>
      tools().some(({ name }) => name === request.tool)
        ? await source.execute(request, options)
        : { type: "error", text: `${request.tool} cannot be used while the work is being planned.` },
  };
}
