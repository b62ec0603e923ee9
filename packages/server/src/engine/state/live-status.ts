import { formatInstant } from "../../lib/instant.ts";
import { queuedMessages } from "./queued-messages.ts";
import type { ConversationState } from "./conversation-state.ts";

/**
 * The live status that events do not contain: pending approvals and queued messages. Valid up to and including
 * `last_event_id`.
 */
export function liveStatusFrame(state: Readonly<ConversationState>, beingReadSeq: number): string {
  const deadline = state.approvalDeadlineMs;
  return JSON.stringify({
    kind: "Standing",
    version: state.lastSeq,
    last_event_id: state.lastId,
    execution_status: state.status,
    open_actions: state.openActions.map(({ id, toolName, toolCallId, gate, resultDeadlineMs }) => ({
      action_id: id,
      tool_name: toolName,
      tool_call_id: toolCallId,
      is_waiting: gate === "awaiting",
      result_deadline: resultDeadlineMs === undefined ? null : formatInstant(resultDeadlineMs * 1000),
    })),
    deadline: deadline === null ? null : formatInstant(Math.round(deadline * 1000)),
    queued: queuedMessages(state, beingReadSeq).map(({ id }) => id),
    held: state.held.map(({ id, text }) => ({ event_id: id, text })),
  });
}
