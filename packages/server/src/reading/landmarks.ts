import type { Landmarks } from "@convoke/protocol";
import type { ConversationRow, Journal, KindFilter } from "../journal/journal.ts";
import { readConfig } from "../engine/read-config.ts";
import type { UpdateMarks } from "./update-marks.ts";

/** More marks than pixels are useless. */
const maxOfASort = 500;

/**
 * The positions of notable events in a log. Reads an index, and only those state updates that it has not read before.
 */
export async function readLandmarks(
  journal: Pick<Journal, "findSeqs" | "getEvents">,
  updates: Pick<UpdateMarks, "read">,
  row: Pick<ConversationRow, "id" | "createdAtMicros" | "lastSeq" | "config">,
): Promise<Landmarks> {
  const { id, lastSeq: length } = row;
  const find = async (...filters: readonly KindFilter[]): Promise<number[]> => {
    const found = await Promise.all(filters.map((filter) => journal.findSeqs(id, filter)));
    // The log may have grown meanwhile: marks behind the returned end are left out.
    return spread(
      found
        .flat()
        .filter((seq) => seq <= length)
        .sort((a, b) => a - b),
    );
  };
  const [turns, errors, rejected, condensations, marks, copied] = await Promise.all([
    find({ kind: "MessageEvent", source: "user" }),
    find({ kind: "ConversationErrorEvent" }, { kind: "AgentErrorEvent" }),
    find({ kind: "UserRejectObservation" }),
    find({ kind: "Condensation" }),
    updates.read(row),
    copiedUpTo(journal, row),
  ]);
  const branches = spread([...(copied === null ? [] : [copied]), ...marks.branches].sort((a, b) => a - b));
  return {
    length,
    turns,
    errors,
    rejected,
    condensations,
    branches,
    tasks: spread(marks.tasks),
    spent: marks.spent,
  };
}

/** The last event that a fork has from its origin; null when it has all of them, or is no fork. */
async function copiedUpTo(
  journal: Pick<Journal, "getEvents">,
  row: Pick<ConversationRow, "id" | "config">,
): Promise<number | null> {
  const eventId = readConfig(row)?.forked_from?.event_id ?? null;
  if (eventId === null) return null;
  const [event] = await journal.getEvents(row.id, [eventId]);
  return event?.seq ?? null;
}

/** The first, the last, and evenly spaced ones between them. */
function spread(places: readonly number[]): number[] {
  if (places.length <= maxOfASort) return [...places];
  const step = (places.length - 1) / (maxOfASort - 1);
  return Array.from({ length: maxOfASort }, (_, index) => places[Math.round(index * step)]!);
}
