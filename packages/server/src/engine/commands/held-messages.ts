import type { Message, MessageEvent } from "@convoke/protocol";
import { stateUpdate } from "../../events/state-update.ts";
import type { EventBody, EventDraft, EventMeta } from "../../events/event-draft.ts";
import { Fault } from "../../lib/fault.ts";
import type { ConversationState, HeldMessage } from "../state/conversation-state.ts";
import type { FoldedEvent } from "../state/fold.ts";

/** The state update that stores a message until the run has ended, and says what became of it. */
export const heldKey = "queued_message";

/** Messages of one conversation that wait for the end of a run. */
const maxHeld = 100;

type MessageBody = Extract<EventBody, { kind: "MessageEvent" }>;
export type MessageDraft = { readonly body: MessageBody; readonly meta: EventMeta };

type StoredValue = Pick<MessageEvent, "activated_skills" | "extended_content" | "sender"> & {
  readonly message: Message;
};

/** A message that waits, read back from the log. */
export type StoredHeld = { readonly id: string; readonly draft: MessageDraft };

/** Stores a message that is delivered when the run has ended. Fails if too many wait (409). */
export function holdMessage({ held }: ConversationState, { body, meta }: MessageDraft): EventDraft {
  if (held.length >= maxHeld)
    throw new Fault(
      "conflict",
      "queue_full",
      `${maxHeld} messages wait for the end of the run already. Withdraw one, or send it with while_running: steer.`,
    );
  const { llm_message: message, activated_skills: skills, extended_content: extended, sender } = body;
  const value = {
    status: "queued",
    message,
    activated_skills: skills,
    extended_content: extended,
    ...(sender === undefined ? {} : { sender }),
  };
  return { ...stateUpdate(heldKey, value), meta: { held: meta } };
}

/** Takes a message out of the queue unread. */
export function releaseHeld(id: string, status: "withdrawn" | "replaced" | "delivered"): EventDraft {
  return { ...stateUpdate(heldKey, { status, event_id: id }), meta: { released: id } };
}

/** The messages that are delivered next: up to the first that wants a run. */
export function nextHeld({ held }: ConversationState): readonly HeldMessage[] {
  const index = held.findIndex(({ wantsRun }) => wantsRun);
  return index === -1 ? held : held.slice(0, index + 1);
}

/** Delivers messages: each leaves the queue and becomes a MessageEvent. */
export function deliverHeld(stored: readonly StoredHeld[]): EventDraft[] {
  return stored.flatMap(({ id, draft }) => [releaseHeld(id, "delivered"), draft, lastMessageDraft]);
}

/** Names the MessageEvent before it. */
export const lastMessageDraft: EventDraft = {
  body: (messageId) => ({
    kind: "ConversationStateUpdateEvent",
    source: "environment",
    key: "last_user_message_id",
    value: messageId,
  }),
};

/** Reads messages back from the log. */
export async function readHeld(
  log: { find(eventId: string): Promise<FoldedEvent | null> },
  held: readonly HeldMessage[],
): Promise<StoredHeld[]> {
  const stored: StoredHeld[] = [];
  for (const { id } of held) {
    const found = await log.find(id);
    const message = found === null ? null : heldMessageOf(found);
    if (message !== null) stored.push({ id, draft: message });
  }
  return stored;
}

/** The message of a record of {@link holdMessage}; null for any other event. */
export function heldMessageOf({ event, meta }: Pick<FoldedEvent, "event" | "meta">): MessageDraft | null {
  if (event.kind !== "ConversationStateUpdateEvent" || meta.held === undefined) return null;
  const {
    message,
    activated_skills: skills = [],
    extended_content: extended = [],
    sender,
  } = event.value as StoredValue;
  return {
    body: {
      kind: "MessageEvent",
      source: "user",
      llm_message: message,
      activated_skills: skills,
      extended_content: extended,
      ...(sender === undefined ? {} : { sender }),
    },
    meta: meta.held,
  };
}
