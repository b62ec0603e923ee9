import { setTimeout as sleep } from "node:timers/promises";
import { sampleEvent } from "../../packages/server/src/journal/sample-events.ts";
import type { BenchResult } from "../bench-result.ts";
import { percentile } from "../journal/percentile.ts";
import { benchId, openBenchNode } from "../node/open-bench-node.ts";
import { BarePipeline } from "./bare-pipeline.ts";
import type { ClientPlan } from "./client-thread.ts";
import { startClients } from "./start-clients.ts";

/**
 * B4: time from the call of `append` until a subscriber has the event, at a steady rate, compared with a bare pipeline in the same run; and
 * the part of it after the commit.
 */
export async function run(): Promise<BenchResult[]> {
  return [
    ...(await measure({ id: "B4", socketCount: 100, perSecond: 2000 })),
    ...(await measure({ id: "B4.10-sockets", socketCount: 10, perSecond: 2000 })),
    ...(await measure({ id: "B4.calm", socketCount: 100, perSecond: 200 })),
  ];
}

type Load = { readonly id: string; readonly socketCount: number; readonly perSecond: number };
type Append = (seq: number) => Promise<void>;
/** Port with sockets that follow what `append` stores. */
type Stream = Pick<ClientPlan, "port" | "path" | "greetingFrames"> & {
  readonly openAppend: () => Promise<Append>;
};
type Played = { readonly whole: number[]; readonly afterCommit: number[]; readonly perSecond: number };

const seconds = 5;
/** Alternating, so that the machine's noise affects both. */
const rounds = 2;
/** Events of the first second are not counted: compilers and buffers warm up. */
const warmUpSeconds = 1;

async function measure(load: Load): Promise<BenchResult[]> {
  const ours: Played[] = [];
  const bare: Played[] = [];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await playBare(load));
    ours.push(await playServer(load));
  }
  const { id, socketCount, perSecond } = load;
  const rows = [
    [
      "p50",
      "whole",
      0.5,
      `append until a subscriber has it, ${socketCount} sockets, ${perSecond} events/s of 1 KB: p50`,
    ],
    ["p99", "whole", 0.99, "the same: p99"],
    ["delivery.p50", "afterCommit", 0.5, "from the commit on: p50"],
    ["delivery.p99", "afterCommit", 0.99, "from the commit on: p99"],
  ] as const;
  return [
    ...rows.map(([what, part, share, name]): BenchResult => {
      const value = percentile(
        ours.flatMap((played) => played[part]),
        share,
      );
      const result = { id: `${id}.${what}`, name, value, unit: "ms" };
      // In the bare pipeline the sockets are written before the commit is acknowledged.
      if (part === "afterCommit") return result;
      const besides = percentile(
        bare.flatMap((played) => played[part]),
        share,
      );
      const baseline = { name: "bare node:sqlite group commit, then a bare ws broadcast", value: besides };
      return { ...result, baseline, ratio: value / besides };
    }),
    {
      id: `${id}.rate`,
      name: "events stored a second",
      value: ours.reduce((sum, played) => sum + played.perSecond, 0) / rounds,
      unit: "events/s",
    },
  ];
}

async function playBare(load: Load): Promise<Played> {
  using pipeline = await BarePipeline.open();
  return await play(load, {
    port: pipeline.port,
    path: "/",
    greetingFrames: 0,
    openAppend: async () => (seq) => pipeline.append(sampleEvent(seq, { minLength: eventBytes }).json),
  });
}

async function playServer(load: Load): Promise<Played> {
  await using node = await openBenchNode();
  const conversationId = benchId(1);
  await node.create(conversationId);
  return await play(load, {
    port: node.port,
    path: `/sockets/events/${conversationId}`,
    greetingFrames: 1,
    // The sockets have loaded the conversation; the bench takes it over to write its own events.
    openAppend: async () => {
      const lease = await node.journal.claim(conversationId);
      return async (seq) => {
        const events = [sampleEvent(seq, { minLength: eventBytes })];
        await node.journal.append(lease, { expectedSeq: seq - 1, events });
      };
    },
  });
}

async function play({ socketCount, perSecond }: Load, { openAppend, ...stream }: Stream): Promise<Played> {
  const eventCount = perSecond * (warmUpSeconds + seconds);
  const arrivals = new Float64Array(
    new SharedArrayBuffer(socketCount * eventCount * Float64Array.BYTES_PER_ELEMENT),
  );
  const reportEvery = eventCount / 10;
  await using clients = await startClients({ ...stream, socketCount, eventCount, reportEvery, arrivals });
  const append = await openAppend();
  const calledAt = new Float64Array(eventCount);
  const storedAt = new Float64Array(eventCount);
  const noted = async (seq: number): Promise<void> => {
    calledAt[seq - 1] = nowMs();
    await append(seq);
    storedAt[seq - 1] = nowMs();
  };
  const appends: Promise<void>[] = [];
  const startedAt = nowMs();
  for (let seq = 1; seq <= eventCount;) {
    // Sends everything that is due, to compensate a late timer.
    const due = Math.min(eventCount, Math.floor(((nowMs() - startedAt) / 1000) * perSecond));
    for (; seq <= due; seq += 1) appends.push(noted(seq));
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
  return { whole, afterCommit, perSecond: eventCount / storedInSeconds };
}

const eventBytes = 1024;

/** The machine's monotonic clock, the same in every thread. */
function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

if (import.meta.main) console.table(await run());
