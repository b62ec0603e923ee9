import type { ConversationState, QueuedMessage } from "./conversation-state.ts";

/** Messages of users that no request to the model has had, oldest first. */
export function queuedMessages(state: ConversationState, beingReadSeq: number): QueuedMessage[] {
  return state.queued.filter(({ isFromUser, seq }) => isFromUser && seq > beingReadSeq);
}
