import type { Journal } from "../../../journal/journal.ts";
import { parseInstant } from "../../../lib/instant.ts";
import { badQuery, readChoice, readFlag, readText, type SocketQuery } from "./socket-query.ts";

/** Where a socket's stream begins. `live`: only what is stored from now on. */
export type Resume =
  | { readonly type: "live" }
  | { readonly type: "all" }
  | { readonly type: "since"; readonly micros: number }
  | { readonly type: "after"; readonly eventId: string };

/**
 * Reads `after_event_id` (the last event that the client has; exact), or `resend_mode` with `after_timestamp`
 * (inclusive), or the older `resend_all`. Anything malformed refuses the handshake.
 */
export function readResume(query: SocketQuery): Resume {
  const eventId = readText(query, "after_event_id", "the id of an event");
  const mode = readChoice(query, "resend_mode", ["all", "since"]);
  const after = readText(query, "after_timestamp", "a date-time such as 2026-01-31T12:00:00Z");
  const wantsAll = readFlag(query, "resend_all");
  if (after !== null && mode !== "since")
    throw badQuery(
      "after_timestamp",
      "after_timestamp counts with resend_mode=since alone. Add that, or leave it out.",
    );
  const micros = after === null ? null : parseInstant(after);
  if (after !== null && micros === null)
    throw badQuery("after_timestamp", "after_timestamp is a date-time such as 2026-01-31T12:00:00Z.");
  if (eventId !== null) return { type: "after", eventId: eventId.toLowerCase() };
  if (mode === null) return wantsAll ? { type: "all" } : { type: "live" };
  if (mode === "all") return { type: "all" };
  return micros === null ? { type: "live" } : { type: "since", micros };
}

export const resumeParameters = ["after_event_id", "resend_mode", "after_timestamp", "resend_all"] as const;

/** The `seq` behind which the stream begins; null when the event id names nothing in this conversation. */
export async function resumeSeq(
  journal: Pick<Journal, "getEvents" | "lastSeq" | "search">,
  conversationId: string,
  resume: Resume,
): Promise<number | null> {
  switch (resume.type) {
    case "all":
      return 0;
    case "live":
      return await journal.lastSeq(conversationId);
    case "after": {
      const [event] = await journal.getEvents(conversationId, [resume.eventId]);
      return event?.seq ?? null;
    }
    case "since": {
      // Read before the search: later events that the search missed are new.
      const lastSeq = await journal.lastSeq(conversationId);
      const page = await journal.search(conversationId, {
        order: "TIMESTAMP",
        limit: 1,
        timestampGteMicros: resume.micros,
      });
      const [first] = page.items;
      if (first === undefined) return lastSeq;
      const [event] = await journal.getEvents(conversationId, [(JSON.parse(first) as { id: string }).id]);
      return event === null || event === undefined ? null : event.seq - 1;
    }
  }
}
