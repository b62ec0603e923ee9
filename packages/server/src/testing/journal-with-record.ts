import { appendFileSync } from "node:fs";
import type { AppendBatch, Journal, Lease } from "../journal/journal.ts";

/** Who appended what to a log, by the word of the process that was told that it is durable. */
export type AppendRecord = {
  readonly conversationId: string;
  readonly nodeId: string;
  readonly generation: number;
  readonly expectedSeq: number;
  readonly eventIds: readonly string[];
};

/** Notes each append that was acknowledged before anybody acts on it; nothing with null. */
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
