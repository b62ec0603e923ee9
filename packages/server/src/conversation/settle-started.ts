import type { ToolSession } from "@convoke/tool-host";
import type { EventDraft } from "../journal/event-draft.ts";
import { answerAction } from "./answer.ts";
import type { ConversationState, OpenAction } from "./conversation-state.ts";
import { agentError } from "./decide.ts";

/**
 * The calls that the last process left without an answer when no run goes on: a pause was waiting for them when it died.
 * A run asks for itself.
 */
export function leftOpen(state: Readonly<ConversationState>): readonly OpenAction[] {
  return state.status === "running" ? [] : state.openActions.filter(({ gate }) => gate === "approved");
}

/** Answers for those that a tool had started, so that nobody can reject or repeat what has happened (P6). */
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
