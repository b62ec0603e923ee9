import { openPostgresJournal } from "../../packages/server/src/journal/postgres/postgres-journal.ts";
import { sampleConversation, sampleEvent } from "../../packages/server/src/journal/sample-events.ts";

export type WriterTask = {
  readonly url: string;
  /** Of the ids of its conversations. */
  readonly prefix: string;
  readonly conversations: number;
  readonly perConversation: number;
};

export type WriterReport = {
  /** Epoch milliseconds, as those of the other processes. */
  readonly startMs: number;
  readonly endMs: number;
  readonly cpuMicros: number;
};

process.once("message", (task: WriterTask) => void write(task));
process.send?.("ready");

async function write({ url, prefix, conversations, perConversation }: WriterTask): Promise<void> {
  await using journal = await openPostgresJournal({ url, onFailure: (error) => console.error(error) });
  const leases = await Promise.all(
    Array.from({ length: conversations }, async (_, index) => {
      const id = `${prefix}-${index}`;
      await journal.createConversation(sampleConversation(id));
      return await journal.claim(id);
    }),
  );
  const startMs = performance.timeOrigin + performance.now();
  const before = process.cpuUsage();
  await Promise.all(
    leases.map(async (lease) => {
      for (let seq = 1; seq <= perConversation; seq += 1) {
        const events = [sampleEvent(seq, { minLength: 1000 })];
        await journal.append(lease, { expectedSeq: seq - 1, events });
      }
    }),
  );
  const { user, system } = process.cpuUsage(before);
  const endMs = performance.timeOrigin + performance.now();
  const report: WriterReport = { startMs, endMs, cpuMicros: user + system };
  process.send?.(report);
}
