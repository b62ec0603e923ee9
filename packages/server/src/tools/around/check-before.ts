import { forward, type ToolSource } from "../tool-source.ts";

/** Calls `check` before each request to the model, which ends the run when it throws. */
export function checkBefore(source: ToolSource, check: () => void): ToolSource {
  return {
    ...forward(source),
    ready: async (...given) => {
      check();
      await source.ready(...given);
    },
  };
}
