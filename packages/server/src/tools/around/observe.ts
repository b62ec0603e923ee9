import type { Outcome } from "@convoke/tool-host";
import type { Ending, Observer } from "../../observability/observer.ts";
import { forward, type ToolSource } from "../tool-source.ts";

/** A source whose executions are activities. */
export function observeCalls(source: ToolSource, conversationId: string, observer: Observer): ToolSource {
  return {
    ...forward(source),
    execute: async (request, options) => {
      const { tool, actionId } = request;
      const begun = observer.begin({ kind: "tool", conversationId, tool, actionId });
      let ending: Ending = { error: "failed" };
      try {
        const outcome = await observer.within(begun, () => source.execute(request, options));
        ending = { error: errorOf(outcome) };
        return outcome;
      } finally {
        observer.end(begun, ending);
      }
    },
  };
}

/** `is_error`: the tool ran and reports a failure; any other word: it did not get that far. */
function errorOf(outcome: Outcome): string | null {
  if (outcome.type !== "observation") return outcome.type;
  return outcome.observation.is_error === true ? "is_error" : null;
}
