import type { ConversationState, QueuedMessage } from "./conversation-state.ts";

/** User messages that no model request has included, oldest first. */
export function queuedMessages(state: ConversationState, beingReadSeq: number): QueuedMessage[] {
  return state.queued.filter(({ isFromUser, seq }) => isFromUser && seq > beingReadSeq);
}
