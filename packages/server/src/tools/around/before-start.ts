import type { ExecuteOptions } from "@convoke/tool-host";
import { forward, type ToolSource } from "../tool-source.ts";

/** A source whose calls wait for something between their record and their tool, where the host is in this process. */
export function waitBeforeStart(
  source: ToolSource,
  beforeStart: NonNullable<ExecuteOptions["beforeStart"]>,
): ToolSource {
  return {
    ...forward(source),
    execute: async (request, options) => await source.execute(request, { ...options, beforeStart }),
  };
}
