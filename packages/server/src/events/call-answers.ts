import type { EventDraft } from "./event-draft.ts";

/** The call that is answered; `id` is that of its ActionEvent. */
type Call = { readonly id: string; readonly toolName: string; readonly toolCallId: string };

/** Answers an action that will have no observation. */
export function agentError(action: Call, error: string, meta: { readonly isFinal?: true } = {}): EventDraft {
  return {
    body: {
      kind: "AgentErrorEvent",
      source: "agent",
      tool_name: action.toolName,
      tool_call_id: action.toolCallId,
      error,
    },
    meta: { answers: action.id, ...meta },
  };
}

/** Answers an action that the user, or a hook, does not want. */
export function rejection(action: Call, reason: string, source: "user" | "hook" = "user"): EventDraft {
  return {
    body: {
      kind: "UserRejectObservation",
      source: "environment",
      tool_name: action.toolName,
      tool_call_id: action.toolCallId,
      action_id: action.id,
      rejection_reason: reason,
      rejection_source: source,
    },
  };
}
