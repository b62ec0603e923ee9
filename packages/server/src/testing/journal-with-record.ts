import { appendFileSync } from "node:fs";
import type { AppendBatch, Journal, Lease } from "../journal/journal.ts";

/** An append to a log, as recorded by the process that got its acknowledgement. */
export type AppendRecord = {
  readonly conversationId: string;
  readonly nodeId: string;
  readonly generation: number;
  readonly expectedSeq: number;
  readonly eventIds: readonly string[];
};

/** Records each acknowledged append before any caller sees the acknowledgement; null records nothing. */
export function journalWithRecord(journal: Journal, file: string | null): Journal {
  if (file === null) return journal;
  const append = journal.append.bind(journal);
  const createClaimed = journal.createClaimed.bind(journal);
  const note = (nodeId: string, { conversationId, generation }: Lease, batch: AppendBatch): void => {
    const eventIds = batch.events.map(({ id }) => id);
    if (eventIds.length === 0) return;
    const { expectedSeq } = batch;
    const record: AppendRecord = { conversationId, nodeId, generation, expectedSeq, eventIds };
    appendFileSync(file, `${JSON.stringify(record)}\n`);
  };
  const recording: Pick<Journal, "append" | "createClaimed"> = {
    append: async (lease, batch) => {
      const { nodeId } = journal;
      await append(lease, batch);
      note(nodeId, lease, batch);
    },
    createClaimed: async (row, first = null) => {
      const { nodeId } = journal;
      const lease = await createClaimed(row, first);
      if (lease !== null && first !== null) note(nodeId, lease, first);
      return lease;
    },
  };
  return Object.assign(journal, recording);
}
