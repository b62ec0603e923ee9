import type { Event } from "@convoke/protocol";
import type { EventMeta } from "./event-draft.ts";
import { DamagedEventError, type EventWithMeta } from "../journal/journal.ts";

/** Parses a stored event and its private facts; throws {@link DamagedEventError} when it is no event. */
export function parseStored(
  conversationId: string,
  { seq, json, meta }: EventWithMeta,
): { readonly seq: number; readonly event: Event; readonly meta: EventMeta } {
  try {
    const event = JSON.parse(json) as Event | null;
    if (typeof event?.kind !== "string") throw new TypeError("An event is an object with a kind.");
    return { seq, event, meta: meta === null ? {} : (JSON.parse(meta) as EventMeta) };
  } catch (error) {
    throw new DamagedEventError(conversationId, seq, { cause: error });
  }
}
