import { recordAt, textAt, type UnknownRecord } from "../lib/unknown-record.ts";

/** One line of the list of events. */
export type ListedEvent = {
  readonly id: string;
  readonly kind: string;
  readonly source: string;
  readonly at: string;
  /** Which tool, or what of the state; empty where the kind says it all. */
  readonly what: string;
  /** Characters, as it is stored. */
  readonly size: number;
};

export type ListedPage = {
  /** The newest first. */
  readonly items: readonly ListedEvent[];
  readonly nextPageId: string | null;
};

/** An event as a page of the log has it, whole or without what made it large. */
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

/** What was read before with what the newest page adds to it; the page alone where it does not reach what was there. */
export function withNewest(before: ListedPage | null, newest: ListedPage): ListedPage {
  const first = before?.items[0]?.id;
  const known = newest.items.findIndex(({ id }) => id === first);
  if (before === null || known === -1) return newest;
  return { items: [...newest.items.slice(0, known), ...before.items], nextPageId: before.nextPageId };
}
