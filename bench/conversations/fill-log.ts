import { initialState } from "../../packages/server/src/engine/state/conversation-state.ts";
import { writeSnapshot } from "../../packages/server/src/engine/state/load-state.ts";
import type { Journal, NewEvent } from "../../packages/server/src/journal/journal.ts";
import { sampleId, sampleMicros } from "../../packages/server/src/journal/sample-events.ts";
import { formatInstant } from "../../packages/server/src/lib/instant.ts";

/** Appends `size` events that are not part of model requests, and the snapshot that a running conversation would have left. */
export async function fillLog(journal: Journal, conversationId: string, size: number): Promise<void> {
  const lease = await journal.claim(conversationId);
  for (let seq = 0; seq < size; seq += batchSize) {
    const count = Math.min(batchSize, size - seq);
    const lastSeq = seq + count;
    const events = Array.from({ length: count }, (_, index) => progressEvent(seq + index + 1));
    const state = {
      ...initialState(),
      lastSeq,
      lastId: sampleId(lastSeq),
      lastMicros: sampleMicros(lastSeq),
    };
    await journal.append(lease, {
      expectedSeq: seq,
      events,
      conversation: { snapshot: writeSnapshot(state), snapshotSeq: lastSeq },
    });
  }
  await journal.release(lease);
}

const batchSize = 2000;

function progressEvent(seq: number): NewEvent {
  const kind = "ConversationStateUpdateEvent";
  const source = "environment";
  const id = sampleId(seq);
  const timestampMicros = sampleMicros(seq);
  const value = "progress ".repeat(20);
  const json = JSON.stringify({
    id,
    timestamp: formatInstant(timestampMicros),
    source,
    key: "bench",
    value,
    kind,
  });
  return { id, timestampMicros, kind, source, json, text: null, meta: null };
}
