import { setTimeout as sleep } from "node:timers/promises";
import { openPostgresJournal } from "../../packages/server/src/journal/postgres/postgres-journal.ts";
import { follow } from "../../packages/server/src/journal/follow.ts";
import { sampleConversation, sampleEvent } from "../../packages/server/src/journal/sample-events.ts";
import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";

const eventCount = 300;
const pauseMs = 20;

/** Time from an acknowledged append on one node until a follower on another has the event. */
export async function measureDoorbell(url: string): Promise<BenchResult[]> {
  const onFailure = (error: unknown): void => console.error(error);
  await using writer = await openPostgresJournal({ url, onFailure });
  await using reader = await openPostgresJournal({ url, onFailure });
  const id = "00000000-0000-4000-8000-000000000001";
  await writer.createConversation(sampleConversation(id));
  const lease = await writer.claim(id);
  const ending = new AbortController();
  const arrivedAt: number[] = [];
  const following = (async (): Promise<void> => {
    for await (const events of follow(reader, id, { afterSeq: 0, signal: ending.signal }))
      for (const { seq } of events) {
        arrivedAt[seq - 1] = performance.now();
        if (seq === eventCount) return;
      }
  })();
  const storedAt: number[] = [];
  for (let seq = 1; seq <= eventCount; seq += 1) {
    // Nodes are only notified once they know each other.
    await sleep(seq === 1 ? 2_000 : pauseMs);
    await writer.append(lease, { expectedSeq: seq - 1, events: [sampleEvent(seq, { minLength: 1000 })] });
    storedAt.push(performance.now());
  }
  await following;
  ending.abort();
  const samples = storedAt.map((at, index) => Math.max(0, arrivedAt[index]! - at)).slice(10);
  return ([0.5, 0.99] as const).map((share) => ({
    id: share === 0.5 ? "cluster.doorbell" : "cluster.doorbell.p99",
    name: `from the acknowledged append to a follower on another node, p${share * 100}`,
    value: percentile(samples, share),
    unit: "ms",
  }));
}
