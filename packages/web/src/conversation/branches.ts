import type { ConvokeClient } from "@convoke/client";

/** Forks the conversation, whole or up to an event; resolves with the id of the fork. */
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

/** Navigates to an event, or to the beginning if null. */
export async function goTo(client: ConvokeClient, id: string, eventId: string | null): Promise<void> {
  await client.call("POST /api/conversations/{conversation_id}/navigate", {
    params: { conversation_id: id },
    body: { event_id: eventId },
  });
}

export { eventBefore } from "@convoke/client/view";
