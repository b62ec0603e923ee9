import { parseInstant } from "../lib/instant.ts";
import { isObject, type JsonObject } from "../lib/json-object.ts";
import { normalizeUuid } from "../lib/uuid7.ts";
import { wrongField } from "./event-shape.ts";
import { ImportRefusal } from "./import-refusal.ts";
import { isOrderedId, orderedId } from "./ordered-ids.ts";
import type { SourceConversation, SourceEvent } from "./source-conversation.ts";

/** One event of a source, where it comes to stand in the log. */
export type PlannedEvent = {
  readonly source: SourceEvent;
  readonly sourceId: string;
  readonly parentId: string | null;
  readonly kind: string;
  readonly id: string;
  readonly micros: number;
};

export type ReadEvent = (event: SourceEvent) => Promise<unknown>;

/**
 * Reads every event once and gives each its id and its instant in the log. Fails for a gap in the numbers, for an id or a time that is
 * none, and for an event without a field that its kind needs. Instants grow with the log, as ids do; an event whose own time is not
 * later than that of the one before stands right behind it.
 */
export async function planEvents(
  { events }: SourceConversation,
  read: ReadEvent,
  nowMicros: number,
): Promise<PlannedEvent[]> {
  const found: (Omit<PlannedEvent, "id" | "micros"> & { readonly ownMicros: number })[] = [];
  const seen = new Map<string, string>();
  const first = events[0]?.number ?? 0;
  for (const [index, source] of events.entries()) {
    checkNumber(source, first, index);
    const event = await read(source);
    const fields = checkEvent(event, source);
    const before = seen.get(fields.sourceId);
    if (before !== undefined) throw wrong(source, "id", `is that of ${before} as well`);
    seen.set(fields.sourceId, source.file);
    found.push({ source, ...fields });
  }
  const last = found.reduce((latest, { ownMicros }) => Math.max(latest, ownMicros), 0);
  // Times without an offset may be ahead of ours by that of another place.
  const shift = last > nowMicros ? Math.ceil((last - nowMicros) / quarterHour) * quarterHour : 0;
  return stamp(found, shift);
}

const quarterHour = 900_000_000;

function stamp(
  found: readonly (Omit<PlannedEvent, "id" | "micros"> & { readonly ownMicros: number })[],
  shift: number,
): PlannedEvent[] {
  let micros = 0;
  let lastId = "";
  return found.map(({ ownMicros, ...event }) => {
    micros = Math.max(ownMicros - shift, micros + 1);
    const isOrdered = isOrderedId(event.sourceId);
    if (isOrdered && event.sourceId <= lastId)
      throw wrong(event.source, "id", "is of version 7, and not above the one before");
    const id = isOrdered ? event.sourceId : orderedId(event.sourceId, micros);
    if (id <= lastId) throw wrong(event.source, "id", "cannot be brought into the order of the events");
    lastId = id;
    return { ...event, id, micros };
  });
}

function checkNumber({ file, number }: SourceEvent, first: number, index: number): void {
  // Agent servers count from 0, our exports from 1.
  const expected = first + index;
  if (first <= 1 && number === expected) return;
  const missing = first > 1 ? 0 : expected;
  throw new ImportRefusal(
    "missing_event",
    number < expected
      ? `${file} has the number of another file.`
      : `Event ${missing} is missing before ${file}.`,
    { file },
  );
}

function checkEvent(
  event: unknown,
  source: SourceEvent,
): { sourceId: string; parentId: string | null; kind: string; ownMicros: number } {
  if (!isObject(event)) throw wrong(source, null, "is not an object");
  const { id, kind, timestamp } = event;
  const sourceId = typeof id === "string" ? normalizeUuid(id) : null;
  if (sourceId === null) throw wrong(source, "id", "is not a UUID");
  const named = source.idInName === null ? sourceId : normalizeUuid(source.idInName);
  if (named !== sourceId) throw wrong(source, "id", "is not the one in the file's name");
  if (typeof kind !== "string" || !/^[A-Za-z]\w{0,99}$/.test(kind))
    throw wrong(source, "kind", "is no name of a kind");
  const ownMicros = typeof timestamp === "string" ? parseInstant(timestamp) : null;
  if (ownMicros === null || ownMicros < 0) throw wrong(source, "timestamp", "is not a date and time");
  if (typeof (event["source"] ?? "") !== "string") throw wrong(source, "source", "is not a text");
  const field = wrongField(event);
  if (field !== null) throw wrong(source, field, `is not what a ${kind} has`);
  return { sourceId, parentId: parentOf(event, source), kind, ownMicros };
}

/** The literal name of the beginning stays as it is. */
function parentOf({ parent_id: parent }: JsonObject, source: SourceEvent): string | null {
  if (parent === undefined || parent === null) return null;
  if (typeof parent !== "string") throw wrong(source, "parent_id", "is not a text");
  return normalizeUuid(parent) ?? parent;
}

function wrong({ file }: SourceEvent, field: string | null, what: string): ImportRefusal {
  const place = field === null ? file : `${field} in ${file}`;
  return new ImportRefusal("invalid_event", `${place} ${what}.`, { file, field });
}
