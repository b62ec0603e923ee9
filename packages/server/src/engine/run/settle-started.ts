import type { EventDraft } from "../../events/event-draft.ts";
import { answerAction } from "./answer.ts";
import type { OpenAction } from "../state/conversation-state.ts";
import { agentError } from "../../events/call-answers.ts";
import type { ToolBelt } from "../tool-belt.ts";

/**
 * Answers for calls that the last process started and did not answer, before any command runs: nobody can reject or
 * repeat them (P6). If that process ran on another machine, a call without a record may have been started there.
 */
export async function settleStarted(
  actions: readonly OpenAction[],
  session: Pick<ToolBelt, "state" | "tools">,
  isFromElsewhere: boolean,
): Promise<EventDraft[]> {
  const drafts: EventDraft[] = [];
  for (const action of actions) {
    const known = await session.state(action.id);
    if (known.type === "finished") drafts.push(answerAction(action, known.outcome, session.tools));
    else if (known.type === "lost" || (known.type === "unknown" && isFromElsewhere))
      drafts.push(lostCall(action));
  }
  return drafts;
}

/** The answer to a call with an unknown outcome. */
export function lostCall(action: OpenAction): EventDraft {
  return agentError(action, lostText);
}

const lostText =
  "The server stopped while this call was in progress, so its outcome is unknown. It was not run again; check what it has done before repeating it.";
