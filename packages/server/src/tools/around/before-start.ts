import type { ExecuteOptions, ToolSession } from "@convoke/tool-host";
import { withMethods } from "../../lib/with-methods.ts";

/** A session whose calls wait for something between their record and their tool, where the host is in this process. */
export function withBeforeStart(
  session: ToolSession,
  beforeStart: NonNullable<ExecuteOptions["beforeStart"]>,
): ToolSession {
  return withMethods(session, {
    execute: async (request, options) => await session.execute(request, { ...options, beforeStart }),
  });
}
