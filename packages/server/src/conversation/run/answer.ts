import type { Outcome } from "@convoke/tool-host";
import type { EventDraft } from "../../events/event-draft.ts";
import type { OpenAction } from "../state/conversation-state.ts";
import { agentError } from "../decide.ts";

/** How an execution ended, as the event that answers its action. */
export function answerAction(action: OpenAction, outcome: Outcome): EventDraft {
  if (outcome.type !== "observation") return agentError(action, outcome.text);
  return {
    body: {
      kind: "ObservationEvent",
      source: "environment",
      tool_name: action.toolName,
      tool_call_id: action.toolCallId,
      observation: outcome.observation,
      action_id: action.id,
    },
    ...(action.toolName === "finish" ? { meta: { isFinal: true } } : {}),
  };
}
