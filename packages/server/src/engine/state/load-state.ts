import {
  DamagedEventError,
  type ConversationRow,
  type EventWithMeta,
  type Journal,
} from "../../journal/journal.ts";
import type { EventMeta } from "../../events/event-draft.ts";
import { parseStored } from "../../events/parse-stored.ts";
import { parseInstant } from "../../lib/instant.ts";
import { initialState, type ConversationState } from "./conversation-state.ts";
import { applyEvent, foldedKinds } from "./fold.ts";

export type LogReader = Pick<Journal, "read" | "readKinds">;

/**
 * Folds the log up to its end, from the cached snapshot where there is a usable one. Needs no lease. Fails with
 * {@link DamagedEventError}: who works with a state must not guess what a damaged event said.
 */
export async function loadState(journal: LogReader, row: ConversationRow): Promise<ConversationState> {
  const snapshot = fromSnapshot(row);
  // A conversation at rest: lists of those that are not loaded read no event.
  if (snapshot !== null && snapshot.lastSeq === row.lastSeq) return snapshot;
  const state = snapshot ?? initialState();
  const chunk = 1000;
  for (let from = state.lastSeq + 1; from <= row.lastSeq; from += chunk) {
    const to = Math.min(from + chunk - 1, row.lastSeq);
    for (const stored of await journal.readKinds(row.id, foldedKinds, from, to))
      applyStored(state, row.id, stored);
  }
  if (row.lastSeq > 0 && state.lastSeq <= row.lastSeq) await moveToEnd(journal, row, state);
  return state;
}

/** Folds a stored event; one without the fields of its kind is damaged too. */
export function applyStored(state: ConversationState, conversationId: string, stored: EventWithMeta): void {
  const folded = parseStored(conversationId, stored);
  try {
    applyEvent(state, folded);
  } catch (error) {
    throw new DamagedEventError(conversationId, stored.seq, { cause: error });
  }
}

function fromSnapshot(row: ConversationRow): ConversationState | null {
  if (row.snapshot === null || row.snapshotSeq > row.lastSeq) return null;
  try {
    const parsed = JSON.parse(row.snapshot) as { version: number; state: ConversationState } | null;
    // A snapshot is a copy: without one the log is folded from its beginning.
    return parsed?.version === snapshotVersion ? { ...initialState(), ...parsed.state } : null;
  } catch {
    // Damaged, and nothing is lost by that.
    return null;
  }
}

/** The last event may be of a kind that the fold passes over; the position must be exact all the same. */
async function moveToEnd(journal: LogReader, row: ConversationRow, state: ConversationState): Promise<void> {
  const [last] = await journal.read(row.id, row.lastSeq - 1, 1);
  if (last === undefined) return;
  const { event } = parseStored(row.id, { ...last, meta: null });
  state.lastSeq = last.seq;
  state.lastId = last.id;
  if (typeof event.timestamp === "string")
    state.lastMicros = parseInstant(event.timestamp) ?? state.lastMicros;
}

/** Grows whenever the fold changes its meaning; older snapshots are then ignored and the log is folded anew. */
const snapshotVersion = 8;

export function writeSnapshot(state: ConversationState): string {
  return JSON.stringify(toCheckpoint(state));
}

/** A state as it is stored beside an event: a copy of what the log up to there folds to. */
export function toCheckpoint(state: Readonly<ConversationState>): NonNullable<EventMeta["checkpoint"]> {
  return { version: snapshotVersion, state };
}

/** Null where there is none, and for one that a fold of another meaning has made. */
export function fromCheckpoint({ checkpoint }: EventMeta): ConversationState | null {
  if (checkpoint?.version !== snapshotVersion) return null;
  return { ...initialState(), ...(checkpoint.state as ConversationState) };
}
