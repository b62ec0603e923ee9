import type { Outcome, ToolListing } from "@convoke/tool-host";
import type { EventDraft } from "../../events/event-draft.ts";
import type { OpenAction } from "../state/conversation-state.ts";
import { agentError } from "../../events/call-answers.ts";

/**
 * The result of an execution as the event that answers its action; the observation of a turn-ending tool is final.
 */
export function answerAction(
  action: OpenAction,
  outcome: Outcome,
  tools: readonly ToolListing[],
): EventDraft {
  if (outcome.type !== "observation") return agentError(action, outcome.text);
  const endsTurn = tools.find(({ name }) => name === action.toolName)?.traits?.endsTurn ?? false;
  return {
    body: {
      kind: "ObservationEvent",
      source: "environment",
      tool_name: action.toolName,
      tool_call_id: action.toolCallId,
      observation: outcome.observation,
      action_id: action.id,
    },
    ...(endsTurn ? { meta: { isFinal: true } } : {}),
  };
}
