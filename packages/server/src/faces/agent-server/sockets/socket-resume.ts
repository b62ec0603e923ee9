import type { Journal } from "../../../journal/journal.ts";
import { Fault } from "../../../lib/fault.ts";
import { parseInstant } from "../../../lib/instant.ts";

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
export function readResume(query: Readonly<Record<string, unknown>>): Resume {
  const eventId = query["after_event_id"];
  if (typeof eventId === "string" && eventId !== "") return { type: "after", eventId: eventId.toLowerCase() };
  const mode = query["resend_mode"];
  if (mode === undefined || mode === "") {
    return isTrue(query["resend_all"]) ? { type: "all" } : { type: "live" };
  }
  if (mode === "all") return { type: "all" };
  if (mode !== "since") throw new Fault("refused", "bad_resend_mode", 'resend_mode is "all" or "since".');
  const after = query["after_timestamp"];
  if (typeof after !== "string" || after === "") return { type: "live" };
  const micros = parseInstant(after);
  if (micros === null)
    throw new Fault("refused", "bad_after_timestamp", "after_timestamp is not a date-time.");
  return { type: "since", micros };
}

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
      // Before the search: what comes after it, and was not found, is news.
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

function isTrue(value: unknown): boolean {
  return value === "true" || value === "1" || value === "True";
}
