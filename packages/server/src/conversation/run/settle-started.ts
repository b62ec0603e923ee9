import type { ToolSession } from "@convoke/tool-host";
import type { EventDraft } from "../../events/event-draft.ts";
import { answerAction } from "./answer.ts";
import type { OpenAction } from "../state/conversation-state.ts";
import { agentError } from "../decide.ts";

/**
 * Answers for the calls that the last process had started and not answered, before any command is looked at: nobody can
 * reject or repeat what has happened (P6).
 */
export async function settleStarted(
  actions: readonly OpenAction[],
  session: Pick<ToolSession, "state">,
): Promise<EventDraft[]> {
  const drafts: EventDraft[] = [];
  for (const action of actions) {
    const known = await session.state(action.id);
    if (known.type === "finished") drafts.push(answerAction(action, known.outcome));
    if (known.type === "lost") drafts.push(agentError(action, lostText));
  }
  return drafts;
}

const lostText =
  "The server stopped while this call was in progress, so its outcome is unknown. It was not run again; check what it has done before repeating it.";
