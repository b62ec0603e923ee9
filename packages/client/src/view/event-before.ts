import type { ConvokeClient } from "../convoke-client.ts";

/** The event directly before another in the log, shown or not; null before the first one. */
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
