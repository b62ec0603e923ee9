import type { EventWithMeta, NewEvent } from "../journal/journal.ts";
import { formatInstant, parseInstant } from "../lib/instant.ts";
import { searchableText } from "./event-draft.ts";
import { parseStored } from "./parse-stored.ts";

/** A stored event in the form for an append to another log, with the same id, time and text. */
export function toNewEvent(conversationId: string, stored: EventWithMeta): NewEvent {
  const { id, json, meta } = stored;
  const { event, meta: facts } = parseStored(conversationId, stored);
  return {
    id,
    timestampMicros: facts.imported?.micros ?? parseInstant(event.timestamp ?? formatInstant(0)) ?? 0,
    kind: event.kind,
    source: event.source ?? "environment",
    json,
    text: searchableText(event),
    meta,
  };
}
