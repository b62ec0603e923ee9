import type { EventBody, EventDraft } from "./event-draft.ts";

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
  return { body: rejectionBody(action, reason, source) };
}

/**
 * Answers the action right before it, which a rule denies. The contract knows no other source of a denial without a
 * person than a hook.
 */
export function denialOfLast(call: Omit<Call, "id">, reason: string): EventDraft {
  return { body: (actionId) => rejectionBody({ ...call, id: actionId }, reason, "hook") };
}

function rejectionBody(action: Call, reason: string, source: "user" | "hook"): EventBody {
  return {
    kind: "UserRejectObservation",
    source: "environment",
    tool_name: action.toolName,
    tool_call_id: action.toolCallId,
    action_id: action.id,
    rejection_reason: reason,
    rejection_source: source,
  };
}
