import type { EventDraft } from "../../events/event-draft.ts";
import { Fault } from "../../lib/fault.ts";
import type { ConversationState } from "../state/conversation-state.ts";
import { queuedMessages } from "../state/queued-messages.ts";
import type { Decision } from "./decide.ts";
import { releaseHeld } from "./held-messages.ts";

/** Withdraws a message before the model reads it; the log keeps it and records that (P44). */
export function decideDequeue(
  state: ConversationState,
  eventId: string,
  beingReadSeq: number,
  isKnown: boolean,
): Decision {
  if (state.held.some(({ id }) => id === eventId)) return { drafts: [releaseHeld(eventId, "withdrawn")] };
  if (queuedMessages(state, beingReadSeq).some(({ id }) => id === eventId))
    return { drafts: [withdrawMessage(eventId)] };
  throw isKnown
    ? new Fault("conflict", "message_already_read", "The agent has read this message already.")
    : new Fault("missing", "message_not_found", `No message ${eventId} waits in this conversation.`);
}

/** A stored message leaves what the model reads. */
export function withdrawMessage(eventId: string): EventDraft {
  return {
    body: {
      kind: "Condensation",
      source: "environment",
      forgotten_event_ids: [eventId],
      llm_response_id: "none",
    },
    meta: { dequeued: eventId },
  };
}
