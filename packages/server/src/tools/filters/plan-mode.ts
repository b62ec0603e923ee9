import type { ToolListing, ToolSession } from "@convoke/tool-host";
import { withMethods } from "../../lib/with-methods.ts";

/** The session of an agent that plans: of its tools only those that read, and the one that writes the plan. */
export function withPlanMode(session: ToolSession): ToolSession {
  // Its tools may not be complete from the start.
  const tools = (): readonly ToolListing[] =>
    session.tools.filter(
      ({ isReadOnly, traits }) => isReadOnly || traits?.endsTurn === true || traits?.writesPlan === true,
    );
  return withMethods(session, {
    get tools() {
      return tools();
    },
    // A call that was recorded before the agent planned is no exception.
    execute: async (request, options) =>
      tools().some(({ name }) => name === request.tool)
        ? await session.execute(request, options)
        : { type: "error", text: `${request.tool} cannot be used while the work is being planned.` },
  });
}
