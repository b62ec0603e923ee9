import { recordAt, textAt, type UnknownRecord } from "@convoke/client/view";

/** Texts longer than this are trimmed; the whole event is fetched on demand. */
export const trimAt = 8_192;

/** A page of a log in log order, and the cursor of the next page in the reading direction. */
export type LogPage = { readonly events: readonly UnknownRecord[]; readonly nextPageId: string | null };

/** Converts a REST page; `isDown` if it was read newest first. Marks events that were trimmed. */
export function toLogPage(
  reply: { readonly items: readonly UnknownRecord[]; readonly next_page_id?: string | null },
  isDown: boolean,
): LogPage {
  const events = reply.items.map(marked);
  return { events: isDown ? events.toReversed() : events, nextPageId: reply.next_page_id ?? null };
}

/** The events of a downward page up to the event `last`. */
export function upTo({ events, nextPageId }: LogPage, last: string): LogPage {
  return {
    events: events.filter((event) => textAt(event, "id") <= last),
    nextPageId: nextPageId !== null && nextPageId <= last ? nextPageId : null,
  };
}

function marked(item: UnknownRecord): UnknownRecord {
  const event = item["kind"] === "TrimmedEvent" ? recordAt(item, "event") : null;
  return event === null ? item : { ...event, is_cut: true };
}
