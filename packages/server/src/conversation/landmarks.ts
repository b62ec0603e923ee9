import type { Landmarks } from "@convoke/protocol";
import type { Journal, KindFilter } from "../journal/journal.ts";

/** More marks than pixels tell nothing. */
const mostOfASort = 500;

/** Where in a log happened what somebody looks for. Reads an index, no event. */
export async function readLandmarks(
  journal: Pick<Journal, "findSeqs" | "lastSeq">,
  id: string,
): Promise<Landmarks> {
  const find = async (...filters: readonly KindFilter[]): Promise<number[]> => {
    const found = await Promise.all(filters.map((filter) => journal.findSeqs(id, filter)));
    return spread(found.flat().sort((a, b) => a - b));
  };
  const [turns, errors, rejected, condensations] = await Promise.all([
    find({ kind: "MessageEvent", source: "user" }),
    find({ kind: "ConversationErrorEvent" }, { kind: "AgentErrorEvent" }),
    find({ kind: "UserRejectObservation" }),
    find({ kind: "Condensation" }),
  ]);
  // Read last, so that no mark lies behind the end.
  return { length: await journal.lastSeq(id), turns, errors, rejected, condensations };
}

/** The first, the last, and what lies evenly between them. */
function spread(places: readonly number[]): number[] {
  if (places.length <= mostOfASort) return [...places];
  const step = (places.length - 1) / (mostOfASort - 1);
  return Array.from({ length: mostOfASort }, (_, index) => places[Math.round(index * step)]!);
}
