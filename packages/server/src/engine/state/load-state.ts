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
 * Folds the log to its end, from the cached snapshot if it is usable. Needs no lease. Throws {@link
 * DamagedEventError}: a writer must not guess the content of a damaged event.
 */
export async function loadState(journal: LogReader, row: ConversationRow): Promise<ConversationState> {
  const snapshot = fromSnapshot(row);
  // An idle conversation: lists read no event of it.
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

/** Folds a stored event; an event without the fields of its kind counts as damaged. */
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
    // A snapshot is only a cache: without one the log is folded from its beginning.
    return parsed?.version === snapshotVersion ? { ...initialState(), ...parsed.state } : null;
  } catch {
    // Damaged: fold without it.
    return null;
  }
}

/** The fold may skip the last event, but the position must be exact. */
async function moveToEnd(journal: LogReader, row: ConversationRow, state: ConversationState): Promise<void> {
  const [last] = await journal.read(row.id, row.lastSeq - 1, 1);
  if (last === undefined) return;
  const { event } = parseStored(row.id, { ...last, meta: null });
  state.lastSeq = last.seq;
  state.lastId = last.id;
  if (typeof event.timestamp === "string")
    state.lastMicros = parseInstant(event.timestamp) ?? state.lastMicros;
}

/** Incremented whenever the fold changes: older snapshots are ignored and the log is folded again. */
const snapshotVersion = 10;

export function writeSnapshot(state: ConversationState): string {
  return JSON.stringify(toCheckpoint(state));
}

/** A checkpoint stored with an event: the fold of the log up to it. */
export function toCheckpoint(state: Readonly<ConversationState>): NonNullable<EventMeta["checkpoint"]> {
  return { version: snapshotVersion, state };
}

/** Null if there is none, or if another version of the fold made it. */
export function fromCheckpoint({ checkpoint }: EventMeta): ConversationState | null {
  if (checkpoint?.version !== snapshotVersion) return null;
  return { ...initialState(), ...(checkpoint.state as ConversationState) };
}
