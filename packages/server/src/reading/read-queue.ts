import type { Message } from "@convoke/protocol";
import { heldMessageOf } from "../engine/commands/held-messages.ts";
import type { ConversationState } from "../engine/state/conversation-state.ts";
import { queuedMessages } from "../engine/state/queued-messages.ts";
import { parseStored } from "../events/parse-stored.ts";
import type { Journal } from "../journal/journal.ts";

type Item = {
  readonly event_id: string;
  readonly wants_run: boolean;
  readonly while_running: "queue" | "steer";
  readonly message: Message;
};

/** The messages that the agent has not read: those of its next model call, then those of its next turns. */
export async function readQueue(
  journal: Pick<Journal, "getEvents">,
  id: string,
  state: Readonly<ConversationState>,
  beingReadSeq: number,
): Promise<Item[]> {
  const waiting = [...queuedMessages(state, beingReadSeq), ...state.held];
  const stored = await journal.getEvents(
    id,
    waiting.map((message) => message.id),
  );
  return stored.flatMap((item, index) => {
    if (item === null) return [];
    const { event, meta } = parseStored(id, item);
    const held = heldMessageOf({ event, meta });
    const message = event.kind === "MessageEvent" ? event.llm_message : held?.body.llm_message;
    if (message === undefined) return [];
    const mode = held === null ? "steer" : "queue";
    return [{ event_id: item.id, wants_run: waiting[index]!.wantsRun, while_running: mode, message }];
  });
}
