import { Fault } from "../../lib/fault.ts";
import type { ConversationState } from "../state/conversation-state.ts";
import { queuedMessages } from "../state/queued-messages.ts";
import type { Decision } from "./decide.ts";

/** Withdraws a message before the model reads it; the log keeps it and records that (P44). */
export function decideDequeue(
  state: ConversationState,
  eventId: string,
  beingReadSeq: number,
  isKnown: boolean,
): Decision {
  const message = queuedMessages(state, beingReadSeq).find(({ id }) => id === eventId);
  if (message === undefined) {
    throw isKnown
      ? new Fault("conflict", "message_already_read", "The agent has read this message already.")
      : new Fault("missing", "message_not_found", `No message ${eventId} waits in this conversation.`);
  }
  return {
    drafts: [
      {
        body: {
          kind: "Condensation",
          source: "environment",
          forgotten_event_ids: [eventId],
          llm_response_id: "none",
        },
        meta: { dequeued: eventId },
      },
    ],
  };
}
