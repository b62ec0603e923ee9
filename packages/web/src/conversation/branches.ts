import type { ConvokeClient } from "@convoke/client";

/** The id of a copy of the conversation, whole or up to an event. */
export async function copyOf(
  client: ConvokeClient,
  id: string,
  eventId: string | undefined,
): Promise<string> {
  const copy = await client.call("POST /api/conversations/{conversation_id}/fork", {
    params: { conversation_id: id },
    body: eventId === undefined ? {} : { from_event_id: eventId },
  });
  return copy.id;
}

/** Goes on from an event, or from the beginning when null. */
export async function goTo(client: ConvokeClient, id: string, eventId: string | null): Promise<void> {
  await client.call("POST /api/conversations/{conversation_id}/navigate", {
    params: { conversation_id: id },
    body: { event_id: eventId },
  });
}

/** The event that stands directly before another in the log, whatever the timeline shows of it; null before the first one. */
export async function eventBefore(
  client: Pick<ConvokeClient, "searchEvents">,
  id: string,
  eventId: string,
): Promise<string | null> {
  const { items } = await client.searchEvents(id, {
    page_id: eventId,
    limit: 2,
    sort_order: "TIMESTAMP_DESC",
  });
  return items[1]?.id ?? null;
}
