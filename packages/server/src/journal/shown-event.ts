import { formatInstant } from "../lib/instant.ts";
import type { StoredEvent } from "./journal.ts";
import { msOfUuid7 } from "../lib/uuid7.ts";

/** Stands for the JSON of an event that is gone, or is not what was written. */
export const damagedJson = "";

/** Is in each stand-in for a damaged event, and seldom anywhere else. */
export const damagedMark = '"EventDamaged"';

/** False for what no event can look like: cut off, overwritten, another kind of value. Its content is not checked. */
export function isWhole(json: string): boolean {
  return json.startsWith("{") && json.endsWith("}");
}

/** An event as readers get it: a damaged one has a stand-in that says so, with its id and its place, and hides no other (P7). */
export function shownJson({ seq, id, json }: StoredEvent): string {
  if (isWhole(json)) return json;
  const millis = msOfUuid7(id) || 0;
  return JSON.stringify({
    id,
    timestamp: formatInstant(millis * 1000),
    source: "environment",
    code: "EventDamaged",
    detail: `Event number ${seq} of this conversation is damaged; the others can still be read.`,
    kind: "ConversationErrorEvent",
  });
}
