import { once } from "node:events";
import type { Journal } from "../../packages/server/src/journal/journal.ts";
import { openPostgresJournal } from "../../packages/server/src/journal/postgres/postgres-journal.ts";
import { sampleConversation, sampleEvent } from "../../packages/server/src/journal/sample-events.ts";

export type WriterTask = {
  readonly url: string;
  /** Prefix of the ids of its conversations. */
  readonly prefix: string;
  readonly conversations: number;
  readonly perConversation: number;
  /** Events per warm-up conversation, stored first and not measured: a busy server has compiled its code. */
  readonly warmUp: number;
};

export type WriterReport = {
  /** Epoch milliseconds, comparable with other processes. */
  readonly startMs: number;
  readonly endMs: number;
  readonly cpuMicros: number;
};

process.once("message", (task: WriterTask) => void write(task));
process.send?.("ready");

async function write({ url, prefix, conversations, perConversation, warmUp }: WriterTask): Promise<void> {
  await using journal = await openPostgresJournal({ url, onFailure: (error) => console.error(error) });
  await (
    await prepare(journal, `${prefix}-warm`, conversations)
  )(warmUp);
  const append = await prepare(journal, prefix, conversations);
  process.send?.("warm");
  await once(process, "message");
  const startMs = performance.timeOrigin + performance.now();
  const before = process.cpuUsage();
  await append(perConversation);
  const { user, system } = process.cpuUsage(before);
  const endMs = performance.timeOrigin + performance.now();
  const report: WriterReport = { startMs, endMs, cpuMicros: user + system };
  process.send?.(report);
}

/** Creates conversations, and a function that stores events in them: sequentially in each, concurrently in all. */
async function prepare(
  journal: Journal,
  prefix: string,
  conversations: number,
): Promise<(count: number) => Promise<void>> {
  const leases = await Promise.all(
    Array.from({ length: conversations }, async (_, index) => {
      const id = `${prefix}-${index}`;
      await journal.createConversation(sampleConversation(id));
      return await journal.claim(id);
    }),
  );
  return async (count) => {
    await Promise.all(
      leases.map(async (lease) => {
        for (let seq = 1; seq <= count; seq += 1) {
          const events = [sampleEvent(seq, { minLength: 1000 })];
          await journal.append(lease, { expectedSeq: seq - 1, events });
        }
      }),
    );
  };
}
