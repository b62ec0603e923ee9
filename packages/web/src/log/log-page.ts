import { recordAt, textAt, type UnknownRecord } from "../lib/unknown-record.ts";

/** Texts of an event longer than this are cut; the whole event is asked for when somebody wants it. */
export const trimAt = 8_192;

/** A part of a log in its order, and the cursor of the part before it (after it, if it was read upwards). */
export type LogPage = { readonly events: readonly UnknownRecord[]; readonly nextPageId: string | null };

/** A page as REST gives it; `isDown` when the newest events are asked for first. What was cut of an event is marked on it. */
export function toLogPage(
  reply: { readonly items: readonly UnknownRecord[]; readonly next_page_id?: string | null },
  isDown: boolean,
): LogPage {
  const events = reply.items.map(marked);
  return { events: isDown ? events.toReversed() : events, nextPageId: reply.next_page_id ?? null };
}

/** What of a page that was read downwards is not behind the event `last`. */
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
