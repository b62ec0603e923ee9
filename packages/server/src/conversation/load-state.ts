import type { Event } from "@convoke/protocol";
import type { ConversationRow, EventWithMeta, Journal } from "../journal/journal.ts";
import type { EventMeta } from "../journal/event-draft.ts";
import { parseInstant } from "../lib/instant.ts";
import { initialState, type ConversationState } from "./conversation-state.ts";
import { applyEvent, foldedKinds, type FoldedEvent } from "./fold.ts";

export type LogReader = Pick<Journal, "read" | "readKinds">;

/** Folds the log up to its end, from the cached snapshot where there is a usable one. Needs no lease. */
export async function loadState(journal: LogReader, row: ConversationRow): Promise<ConversationState> {
  const state = fromSnapshot(row) ?? initialState();
  const chunk = 1000;
  for (let from = state.lastSeq + 1; from <= row.lastSeq; from += chunk) {
    const to = Math.min(from + chunk - 1, row.lastSeq);
    for (const stored of await journal.readKinds(row.id, foldedKinds, from, to))
      applyEvent(state, parseStored(stored));
  }
  if (row.lastSeq > 0 && state.lastSeq <= row.lastSeq) await moveToEnd(journal, row, state);
  return state;
}

export function parseStored(stored: EventWithMeta): FoldedEvent {
  return {
    seq: stored.seq,
    event: JSON.parse(stored.json) as Event,
    meta: stored.meta === null ? {} : (JSON.parse(stored.meta) as EventMeta),
  };
}

function fromSnapshot(row: ConversationRow): ConversationState | null {
  if (row.snapshot === null || row.snapshotSeq > row.lastSeq) return null;
  const parsed = JSON.parse(row.snapshot) as { version: number; state: ConversationState };
  return parsed.version === snapshotVersion ? parsed.state : null;
}

/** The last event may be of a kind that the fold passes over; the position must be exact all the same. */
async function moveToEnd(journal: LogReader, row: ConversationRow, state: ConversationState): Promise<void> {
  const [last] = await journal.read(row.id, row.lastSeq - 1, 1);
  if (last === undefined) return;
  const { timestamp } = JSON.parse(last.json) as { timestamp: string };
  state.lastSeq = last.seq;
  state.lastId = last.id;
  state.lastMicros = parseInstant(timestamp) ?? state.lastMicros;
}

/** Grows whenever the fold changes its meaning; older snapshots are then ignored and the log is folded anew. */
const snapshotVersion = 6;

export function writeSnapshot(state: ConversationState): string {
  return JSON.stringify({ version: snapshotVersion, state });
}
