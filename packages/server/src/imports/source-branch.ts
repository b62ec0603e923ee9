import type { Navigation } from "../agent/branches.ts";
import { foldedKinds } from "../engine/state/fold.ts";
import { ImportRefusal } from "./import-refusal.ts";
import type { PlannedEvent } from "./plan-events.ts";
import type { SourceFacts } from "./source-facts.ts";

/** The branch that a source stands on, in positions of the log. */
export type SourceBranch = {
  /** Where events continue from another one than the event before them, oldest first. */
  readonly jumps: readonly Navigation[];
  /** The last event of the branch; 0: it begins again. */
  readonly toSeq: number;
};

/** Kinds that a branch is made of; what is beside them belongs to the event before. */
const isOnBranch = new Set<string>(foldedKinds.filter((kind) => kind !== "ConversationStateUpdateEvent"));

/**
 * Null for a source without branches, which stands at its last event. Events name the one that they follow. A jump stands half a place
 * before its event: in this log a navigation would be an event between the two.
 */
export function branchOf(
  events: readonly PlannedEvent[],
  { leafEventId, headIsEmpty }: Pick<SourceFacts, "leafEventId" | "headIsEmpty">,
): SourceBranch | null {
  const seqs = new Map(events.map(({ sourceId }, index) => [sourceId, index + 1]));
  const jumps: Navigation[] = [];
  let lastSeq = 0;
  for (const [index, { kind, parentId }] of events.entries()) {
    if (!isOnBranch.has(kind)) continue;
    const seq = index + 1;
    const parentSeq = onBranch(events, parentId === null ? undefined : seqs.get(parentId));
    if (parentId !== null && parentSeq !== lastSeq) jumps.push([seq - 0.5, parentSeq]);
    lastSeq = seq;
  }
  const leafSeq = leafEventId === null ? undefined : seqs.get(leafEventId);
  if (leafEventId !== null && leafSeq === undefined)
    throw new ImportRefusal(
      "missing_event",
      `There is no event ${leafEventId}, where the conversation stands.`,
      {
        field: "leaf_event_id",
      },
    );
  const toSeq = headIsEmpty ? 0 : leafSeq === undefined ? lastSeq : onBranch(events, leafSeq);
  return jumps.length === 0 && toSeq === lastSeq ? null : { jumps, toSeq };
}

/** Hooks are beside a branch: what follows one follows the event that it followed. */
function onBranch(events: readonly PlannedEvent[], given: number | undefined): number {
  let seq = given ?? 0;
  const seqs = new Map<string, number>();
  while (seq > 0 && !isOnBranch.has(events[seq - 1]!.kind)) {
    if (seqs.size === 0) events.forEach(({ sourceId }, index) => seqs.set(sourceId, index + 1));
    const parent = events[seq - 1]!.parentId;
    const before = parent === null ? seq - 1 : (seqs.get(parent) ?? 0);
    // A parent is an earlier event; anything else would go round in a circle.
    seq = Math.min(before, seq - 1);
  }
  return seq;
}
