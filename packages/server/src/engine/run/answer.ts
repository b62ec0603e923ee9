import type { Observation, TextContent } from "@convoke/protocol";
import type { Outcome, ToolListing } from "@convoke/tool-host";
import type { EventDraft } from "../../events/event-draft.ts";
import type { OpenAction } from "../state/conversation-state.ts";
import type { JsonObject } from "../../lib/json-object.ts";
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
  const { observation } = outcome;
  const { structuredOutput: answer } = action;
  const endsTurn = tools.find(({ name }) => name === action.toolName)?.traits?.endsTurn ?? false;
  return {
    body: {
      kind: "ObservationEvent",
      source: "environment",
      tool_name: action.toolName,
      tool_call_id: action.toolCallId,
      observation: answer === undefined ? observation : withAnswer(observation, answer),
      action_id: action.id,
    },
    ...(endsTurn ? { meta: { isFinal: true } } : {}),
  };
}

/** With the structured answer as one more text. */
function withAnswer(observation: Observation, answer: JsonObject): Observation {
  const text: TextContent = { type: "text", text: JSON.stringify(answer) };
  return { ...observation, content: [...(observation.content ?? []), text] };
}
