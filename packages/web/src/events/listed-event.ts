import { recordAt, textAt, type UnknownRecord } from "@convoke/client/view";

/** One entry of the event list. */
export type ListedEvent = {
  readonly id: string;
  readonly kind: string;
  readonly source: string;
  readonly at: string;
  /** The tool, or the state field; empty for other kinds. */
  readonly what: string;
  /** Length of its stored JSON in characters. */
  readonly size: number;
};

export type ListedPage = {
  /** The newest first. */
  readonly items: readonly ListedEvent[];
  readonly nextPageId: string | null;
};

/** Converts an event of a page, whole or trimmed. */
export function listedEvent(item: UnknownRecord): ListedEvent {
  const isTrimmed = item["kind"] === "TrimmedEvent";
  const event = (isTrimmed ? recordAt(item, "event") : null) ?? item;
  const size = item["size"];
  return {
    id: textAt(item, "id"),
    kind: textAt(event, "kind"),
    source: textAt(item, "source"),
    at: textAt(item, "timestamp"),
    what: textAt(event, "tool_name") || textAt(event, "key"),
    size: isTrimmed && typeof size === "number" ? size : JSON.stringify(item).length,
  };
}

/** Merges the newest page into the loaded events; returns the page alone if there is a gap between them. */
export function withNewest(before: ListedPage | null, newest: ListedPage): ListedPage {
  const first = before?.items[0]?.id;
  const known = newest.items.findIndex(({ id }) => id === first);
  if (before === null || known === -1) return newest;
  return { items: [...newest.items.slice(0, known), ...before.items], nextPageId: before.nextPageId };
}
