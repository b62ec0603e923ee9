import { listAt, partsText } from "@convoke/client/view";
import { useStore } from "../lib/store.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { useMoreWords } from "../words/words.ts";

/** `isLater`: it waits for the end of the run, and `text` is only its beginning. */
export type Queued = { readonly eventId: string; readonly text: string; readonly isLater: boolean };

type WaitingMessagesProps = {
  readonly conversationId: string;
  /** Queued messages, which the agent has not read. */
  readonly queued: readonly Queued[];
  readonly onEdit: (text: string) => void;
};

/** Queued messages, and those that are still being sent. */
export function WaitingMessages({ conversationId, queued, onEdit }: WaitingMessagesProps) {
  const words = useMoreWords().queue;
  const { outbox, client } = useServices();
  const outgoing = useStore(outbox).filter((message) => message.conversationId === conversationId);
  const wholeOf = async ({ eventId, text, isLater }: Queued): Promise<string> => {
    if (!isLater) return text;
    const params = { conversation_id: conversationId };
    const { items } = await client.call("GET /api/conversations/{conversation_id}/queue", { params });
    const whole = items.find(({ event_id: id }) => id === eventId);
    return whole === undefined ? text : partsText(listAt(whole.message, "content"));
  };
  const takeBack = async (item: Queued, isEdited: boolean): Promise<void> => {
    const { eventId } = item;
    try {
      const text = isEdited ? await wholeOf(item) : "";
      await client.call("DELETE /api/conversations/{conversation_id}/queue/{event_id}", {
        params: { conversation_id: conversationId, event_id: eventId },
      });
      if (isEdited) onEdit(text);
    } catch (error) {
      // The agent has read it in the meantime: it appears in the log.
      console.warn("The message could not be withdrawn.", error);
    }
  };

  if (outgoing.length === 0 && queued.length === 0) return null;
  return (
    <ul
      aria-label={words.label}
      className="mb-2 max-h-44 overflow-y-auto rounded-lg border border-line bg-raised px-3 py-1 text-sm"
    >
      {queued.map((item) => (
        <li key={item.eventId} className="flex items-center gap-2 py-1">
          <span className="shrink-0 text-xs text-faint">{item.isLater ? words.later : words.queued}</span>
          <span className="min-w-0 grow truncate">{item.text}</span>
          <Button variant="quiet" onClick={() => void takeBack(item, true)}>
            {words.edit}
          </Button>
          <Button variant="quiet" onClick={() => void takeBack(item, false)}>
            {words.takeBack}
          </Button>
        </li>
      ))}
      {outgoing.map(({ id, text, state, problem }) => (
        <li key={id} className="flex items-center gap-2 py-1">
          <span className={`shrink-0 text-xs ${state === "refused" ? "text-bad" : "text-faint"}`}>
            {state === "refused" ? words.refused : words.sending}
          </span>
          <span className="min-w-0 grow truncate">{problem === null ? text : `${problem} ${text}`}</span>
          {state === "refused" && (
            <Button
              variant="quiet"
              onClick={() => {
                outbox.remove(id);
                onEdit(text);
              }}
            >
              {words.edit}
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}
