import type { PendingToolCall } from "@convoke/protocol";
import { formatInstant } from "../../lib/instant.ts";
import type { ConversationState, OpenAction } from "./conversation-state.ts";

/** The calls that were handed to the client and have no result, oldest first. */
export function pendingCalls({ openActions }: Pick<ConversationState, "openActions">): OpenAction[] {
  return openActions.filter(({ resultDeadlineMs }) => resultDeadlineMs !== undefined);
}

/** A pending call as clients read it. */
export function describePendingCall({
  id,
  toolCallId,
  toolName,
  resultDeadlineMs = 0,
}: OpenAction): PendingToolCall {
  return {
    action_id: id,
    tool_call_id: toolCallId,
    tool_name: toolName,
    deadline: formatInstant(resultDeadlineMs * 1000),
  };
}
