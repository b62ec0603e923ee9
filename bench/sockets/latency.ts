import { setTimeout as sleep } from "node:timers/promises";
import { sampleEvent } from "../../packages/server/src/journal/sample-events.ts";
import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";
import { benchId, openBenchNode } from "../node/open-bench-node.ts";
import { startClients } from "./start-clients.ts";

/** B4: from the call of `append` until a subscriber has the event, at a steady rate; and the part of it after the commit. */
export async function run(): Promise<BenchResult[]> {
  return [
    ...(await measure({ id: "B4", socketCount: 100, perSecond: 2000 })),
    ...(await measure({ id: "B4.10-sockets", socketCount: 10, perSecond: 2000 })),
    ...(await measure({ id: "B4.calm", socketCount: 100, perSecond: 200 })),
  ];
}

type Load = { readonly id: string; readonly socketCount: number; readonly perSecond: number };

const seconds = 10;
/** Events of the first second are not counted: compilers and buffers warm up. */
const warmUpSeconds = 1;

async function measure({ id, socketCount, perSecond }: Load): Promise<BenchResult[]> {
  await using node = await openBenchNode();
  const conversationId = benchId(1);
  await node.create(conversationId);
  const eventCount = perSecond * (warmUpSeconds + seconds);
  const arrivals = new Float64Array(
    new SharedArrayBuffer(socketCount * eventCount * Float64Array.BYTES_PER_ELEMENT),
  );
  await using clients = await startClients({
    port: node.port,
    path: `/sockets/events/${conversationId}`,
    socketCount,
    greetingFrames: 1,
    eventCount,
    reportEvery: eventCount / 10,
    arrivals,
  });
  const lease = await node.journal.claim(conversationId);
  const calledAt = new Float64Array(eventCount);
  const storedAt = new Float64Array(eventCount);
  const appends: Promise<void>[] = [];
  const append = async (seq: number): Promise<void> => {
    const events = [sampleEvent(seq, { minLength: eventBytes })];
    calledAt[seq - 1] = nowMs();
    await node.journal.append(lease, { expectedSeq: seq - 1, events });
    storedAt[seq - 1] = nowMs();
  };
  const startedAt = nowMs();
  for (let seq = 1; seq <= eventCount;) {
    // Whatever is due by now; a timer that fires late is made up for.
    const due = Math.min(eventCount, Math.floor(((nowMs() - startedAt) / 1000) * perSecond));
    for (; seq <= due; seq += 1) appends.push(append(seq));
    await sleep(1);
  }
  await Promise.all(appends);
  const storedInSeconds = (nowMs() - startedAt) / 1000;
  await clients.have(eventCount);
  const whole: number[] = [];
  const afterCommit: number[] = [];
  for (let socket = 0; socket < socketCount; socket += 1) {
    for (let event = perSecond * warmUpSeconds; event < eventCount; event += 1) {
      const arrivedAt = arrivals[socket * eventCount + event] ?? Number.NaN;
      whole.push(arrivedAt - (calledAt[event] ?? Number.NaN));
      afterCommit.push(arrivedAt - (storedAt[event] ?? Number.NaN));
    }
  }
  const load = `${socketCount} sockets, ${perSecond} events/s of 1 KB`;
  return [
    {
      id: `${id}.p50`,
      name: `append until a subscriber has it, ${load}: p50`,
      value: percentile(whole, 0.5),
      unit: "ms",
    },
    { id: `${id}.p99`, name: "the same: p99", value: percentile(whole, 0.99), unit: "ms" },
    {
      id: `${id}.delivery.p50`,
      name: "from the commit on: p50",
      value: percentile(afterCommit, 0.5),
      unit: "ms",
    },
    {
      id: `${id}.delivery.p99`,
      name: "from the commit on: p99",
      value: percentile(afterCommit, 0.99),
      unit: "ms",
    },
    {
      id: `${id}.rate`,
      name: "events stored a second",
      value: eventCount / storedInSeconds,
      unit: "events/s",
    },
  ];
}

const eventBytes = 1024;

/** The monotonic clock of the machine, the same in every thread. */
function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

if (import.meta.main) console.table(await run());
