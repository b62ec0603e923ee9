import { forward, type ToolSource } from "../tool-source.ts";

/** Awaits `check` before each request to the model, which ends the run when it rejects. */
export function checkBefore(source: ToolSource, check: () => Promise<void>): ToolSource {
  return {
    ...forward(source),
    ready: async (...given) => {
      await check();
      await source.ready(...given);
    },
  };
}
