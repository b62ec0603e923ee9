import type { Outcome, ToolSession } from "@convoke/tool-host";
import { withMethods } from "../../lib/with-methods.ts";
import type { Ending, Observer } from "../../observability/observer.ts";

/** The session itself, except that each execution is an activity. */
export function watchSession(session: ToolSession, conversationId: string, observer: Observer): ToolSession {
  const execute: ToolSession["execute"] = async (request, options) => {
    const { tool, actionId } = request;
    const begun = observer.begin({ kind: "tool", conversationId, tool, actionId });
    let ending: Ending = { error: "failed" };
    try {
      const outcome = await observer.within(begun, () => session.execute(request, options));
      ending = { error: errorOf(outcome) };
      return outcome;
    } finally {
      observer.end(begun, ending);
    }
  };
  return withMethods(session, { execute });
}

/** `is_error`: the tool ran and reports a failure; any other word: it did not get that far. */
function errorOf(outcome: Outcome): string | null {
  if (outcome.type !== "observation") return outcome.type;
  return outcome.observation.is_error === true ? "is_error" : null;
}
